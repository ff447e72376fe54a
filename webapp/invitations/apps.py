from django.apps import AppConfig


class InvitationsConfig(AppConfig):
    name = "webapp.invitations"
    label = "invitations"
