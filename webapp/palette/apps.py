"""The palette's place in Django."""

from django.apps import AppConfig


class PaletteConfig(AppConfig):
    name = "webapp.palette"
