"""The Artifacts tab on a narrow screen: nothing lies outside of its card."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.pages.people import team
from tests.runpage import stored
from webapp.artifacts.models import Artifact

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


def test_long_names_and_paths_fit(log_in: Callable[[str], Page]) -> None:
    run = stored.run_with_steps(team().project).run
    name, path = "checkpoints/step-0012000/model-best-of-all-so-far.safetensors", "/scratch/teams/vision/" + "a" * 60
    Artifact.objects.create(run=run, name=name, kind="kept", size=4_812_000_000, sha256="ab" * 32, content="x")
    Artifact.objects.create(run=run, name="b.pt", kind="path", size=1, sha256="cd" * 32, path=path, node="gpu-a")
    page = log_in("editor")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/runs/{run.uid}/#artifacts")
    expect(page.get_by_role("button", name="Delete b.pt")).to_be_visible()
    card = page.locator(".artifacts .scroll-x")
    assert card.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= 390")
