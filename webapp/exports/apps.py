from django.apps import AppConfig


class ExportsConfig(AppConfig):
    name = "webapp.exports"
    label = "exports"
