"""The five kinds of person that every page is tried with."""

from dataclasses import dataclass

from django.test import Client

from tests import builders
from webapp.accounts.models import User
from webapp.projects.models import Project, Role

KINDS = ("logged_out", "stranger", "viewer", "editor", "admin", "superuser")


@dataclass(frozen=True)
class Team:
    project: Project

    def client(self, kind: str) -> Client:
        """A browser of that person."""
        client = Client()
        if kind != "logged_out":
            client.force_login(User.objects.get(username=kind))
        return client


def team() -> Team:
    """A project with a viewer, an editor and an admin, and two people outside."""
    project = builders.project("demo", viewer=Role.VIEWER, editor=Role.EDITOR, admin=Role.ADMIN)
    builders.user("stranger")
    builders.user("superuser", is_superuser=True)
    return Team(project)
