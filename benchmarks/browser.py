"""A real Chromium, logged in."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.product import Product

CHROMIUM = Path(__file__).with_name("chromium.sh")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Headless Chromium; closed at the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def log_in(page: Page, made: Product) -> None:
    """Through the login page, as a person does."""
    page.goto(f"{made.url}/accounts/login/")
    page.fill("input[name=login]", made.username)
    page.fill("input[name=password]", made.password)
    page.click("main button[type=submit]")
    page.wait_for_url(f"{made.url}/")
