"""A project with one editor, and a browser."""

import pytest

from tests import builders
from tests.pages.conftest import browser, log_in, server_url
from webapp.accounts.models import User
from webapp.projects.models import Project, Role

__all__ = ["browser", "log_in", "server_url"]


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ana=Role.EDITOR, vic=Role.VIEWER)


@pytest.fixture
def ana(project: Project) -> User:
    return User.objects.get(username="ana")
