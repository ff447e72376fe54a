"""The browser of tests/pages, for reports that are opened as files."""

from tests.pages.conftest import browser

__all__ = ["browser"]
