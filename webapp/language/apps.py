from django.apps import AppConfig


class LanguageConfig(AppConfig):
    name = "webapp.language"
    label = "language"
