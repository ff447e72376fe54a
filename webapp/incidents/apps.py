from django.apps import AppConfig


class IncidentsConfig(AppConfig):
    name = "webapp.incidents"
    label = "incidents"
