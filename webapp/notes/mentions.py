"""Who is named in a text as `@name`. Pure, but for `members`."""

import re

from django.db.models import QuerySet

from webapp.accounts.models import User
from webapp.markdown import NAMED, without_end
from webapp.projects.models import Project

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def named_in(text: str) -> set[str]:
    """Names as typed, in lower case; a name at the end of a sentence also without its full stop. Code names nobody."""
    found = {hit.lower() for hit in NAMED.findall(_CODE.sub(" ", text))}
    return found | {without_end(name) for name in found}


def members(project: Project) -> QuerySet[User]:
    """Whom a comment can mention: people of the project, who can see its runs."""
    return project.members.filter(is_active=True, is_service=False).order_by("username")


def names(project: Project) -> list[str]:
    """User names of the members."""
    return list(members(project).values_list("username", flat=True))


def mentioned(text: str, project: Project) -> list[User]:
    """The members that are named."""
    named = named_in(text)
    return [person for person in members(project) if person.username.lower() in named] if named else []
