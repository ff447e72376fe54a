"""What a person may be looking for by a few letters: their projects and runs."""

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from webapp.accounts.models import User
from webapp.history.search import search
from webapp.projects import access
from webapp.projects.models import Project
from webapp.runs import looks
from webapp.runs.models import Run

MOST = 8
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Found:
    """`kind`: run or project. `note` tells it from others of its name; `shape` and `tone` are those of its state."""

    kind: str
    title: str
    note: str
    url: str
    shape: str = ""
    tone: str = ""


def find(user: User | AnonymousUser, text: str) -> list[Found]:
    """At most `MOST` of each kind, the newest runs first; only what the person may see."""
    words = " ".join(text.replace('"', " ").split())[:LONGEST]
    return [_of_project(row) for row in _projects(user, words)] + [_of_run(row) for row in _runs(user, words)]


def _projects(user: User | AnonymousUser, words: str) -> list[Project]:
    visible = access.visible(Project.objects.order_by("name"), user, "pk")
    return list(visible.filter(name__icontains=words)[:MOST])


def _runs(user: User | AnonymousUser, words: str) -> list[Run]:
    runs = search(user, f'"{words}"' if words else "")  # in quotes nothing of it is a key or an operator
    return list(runs.select_related("project").order_by("-created_at")[:MOST])


def _of_project(row: Project) -> Found:
    return Found("project", row.name, row.slug, reverse("projects:detail", args=[row.slug]))


def _of_run(row: Run) -> Found:
    look = looks.look(row)
    note = f"{row.project.name} · {row.uid} · {look.word}"
    return Found("run", row.name, note, reverse("runs:detail", args=[row.uid]), look.shape, look.tone)
