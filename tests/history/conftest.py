"""A project with one editor."""

import pytest

from tests import builders
from webapp.accounts.models import User
from webapp.projects.models import Project, Role


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ana=Role.EDITOR, vic=Role.VIEWER)


@pytest.fixture
def ana(project: Project) -> User:
    return User.objects.get(username="ana")
