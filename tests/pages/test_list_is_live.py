"""The runs list changes while it is looked at."""

from collections.abc import Callable

import pytest
from django.db import transaction
from playwright.sync_api import Page, expect

from tests import builders
from webapp.live.publish import run_changed
from webapp.projects.models import Project, Role
from webapp.runs.models import Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ana=Role.EDITOR)


def change(run: Run, **fields: object) -> None:
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(**fields)
        run_changed(run)


def test_a_changed_row_changes_and_the_others_are_left_alone(project: Project, log_in: Callable[[str], Page]) -> None:
    changed = builders.running_attempt(in_project=project).run
    quiet = builders.running_attempt(in_project=project).run
    page = log_in("ana")
    page.goto("/")
    page.evaluate("uid => { document.getElementById(uid).untouched = true }", f"run-{quiet.uid}")
    change(changed, last_step=1366, total_steps=8000, last_loss=3.4121)
    row = page.locator(f"#run-{changed.uid}")
    expect(row).to_contain_text("1,367 / 8,000", timeout=30_000)
    expect(row).to_contain_text("3.412")
    assert page.evaluate("uid => document.getElementById(uid).untouched", f"run-{quiet.uid}")


def test_a_new_run_comes_in_on_top_and_the_chips_count_it(project: Project, log_in: Callable[[str], Page]) -> None:
    builders.running_attempt(in_project=project)
    page = log_in("ana")
    page.goto("/")
    new = builders.running_attempt(in_project=project).run
    change(new)
    expect(page.locator("#rows tr").first).to_have_id(f"run-{new.uid}", timeout=30_000)
    expect(page.locator("#chips a").first).to_have_text("All 2")
    expect(page.locator("#foot")).to_contain_text("2 of 2 runs")


def test_the_first_run_replaces_the_empty_page(project: Project, log_in: Callable[[str], Page]) -> None:
    page = log_in("ana")
    page.goto("/")
    expect(page.get_by_text("No runs yet")).to_be_visible()
    new = builders.running_attempt(in_project=project).run
    change(new)
    expect(page.locator(f"#run-{new.uid}")).to_be_visible(timeout=30_000)


def test_a_run_that_no_longer_matches_leaves_the_filtered_list(project: Project, log_in: Callable[[str], Page]) -> None:
    run = builders.running_attempt(in_project=project).run
    page = log_in("ana")
    page.goto("/?status=running")
    expect(page.locator(f"#run-{run.uid}")).to_be_visible()
    change(run, status="ended", outcome="succeeded")
    expect(page.locator(f"#run-{run.uid}")).to_have_count(0, timeout=30_000)
