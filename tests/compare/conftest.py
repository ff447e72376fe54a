"""A project with an editor."""

import pytest

from tests import builders
from webapp.projects.models import Project, Role


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ana=Role.EDITOR, vic=Role.VIEWER)
