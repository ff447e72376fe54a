from django.apps import AppConfig


class NotesConfig(AppConfig):
    name = "webapp.notes"
    label = "notes"
