from django.apps import AppConfig


class PreflightConfig(AppConfig):
    name = "webapp.preflight"
    label = "preflight"
