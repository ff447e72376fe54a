"""Saved views: a project's list states under names, one of which may be what its list opens with."""

from typing import Any

from django.db import transaction
from django.http import QueryDict
from django.urls import reverse

from webapp.accounts.models import User
from webapp.history import listing
from webapp.history.models import SavedView
from webapp.projects import access
from webapp.projects.models import Project, Role

_ALL = "all"  # `view=all`: the list without the default view


def default_address(user: User, query: QueryDict) -> str:
    """Where a list of one project, with no other question, goes to; empty: it stays."""
    if set(query) != {"project"}:
        return ""
    views = access.visible(SavedView.objects.all(), user)
    view = views.filter(project__slug=query["project"], is_default=True).first()
    return view_address(view) if view else ""


def view_address(view: SavedView) -> str:
    """The whole address; `view=` says that nothing else is to be opened instead."""
    query = QueryDict(view.query, mutable=True)
    query["project"], query["view"] = view.project.slug, str(view.pk)
    return f"{reverse('runs:list')}?{query.urlencode()}"


def menu(user: User, asked: dict[str, str]) -> dict[str, Any]:
    """For the template: the views of the project that is looked at, or of all the person's projects."""
    views = access.visible(SavedView.objects.select_related("project"), user)
    project = access.visible(Project.objects.filter(slug=asked["project"]), user, "pk").first()
    if asked["project"]:
        views = views.filter(project=project)
    return {
        "views": [(view, view_address(view), as_saved(asked) == view.query) for view in views[:100]],
        "every_run": f"{reverse('runs:list')}?{'project=' + project.slug + '&' if project else ''}view={_ALL}",
        "may_save": project is not None and access.allows(user, project, Role.EDITOR),
        "asked_project": project,
    }


def as_saved(asked: dict[str, str]) -> str:
    """The state as it is kept: without the project, which the view belongs to."""
    return listing.address(asked, project="").removeprefix("?")


@transaction.atomic
def save(project: Project, name: str, asked: dict[str, str], author: User, *, is_default: bool) -> SavedView:
    """Under a new name, or over the view that has it."""
    if is_default:
        project.saved_views.update(is_default=False)
    fields = {"query": as_saved(asked), "is_default": is_default, "author": author}
    return SavedView.objects.update_or_create(project=project, name=name, defaults=fields)[0]
