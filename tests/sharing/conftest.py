"""The browser of tests/pages, on shared pages."""

from tests.pages.conftest import browser, log_in, server_url

__all__ = ["browser", "log_in", "server_url"]
