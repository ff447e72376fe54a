"""What only a browser can show: scripts, layout, focus."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import builders
from tests.browser import until_true
from tests.browser_complaints import Complaints
from webapp.accounts.models import User
from webapp.nodes.models import Node
from webapp.projects.models import Role
from webapp.runs import secrets
from webapp.runs.models import Run, Upload

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def page(log_in: Callable[[str], Page]) -> Page:
    builders.project("demo", ana=Role.ADMIN)
    builders.node("gpu-a", slots=4)
    builders.running_attempt(nodes=2, ranks_per_node=2)
    page = log_in("ana")
    page.goto("/")
    return page


def test_a_refused_launch_keeps_secret_and_folder_and_the_mended_one_starts(
    page: Page, tmp_path: Path, complaints: Complaints
) -> None:
    (tmp_path / "code" / "models").mkdir(parents=True)
    (tmp_path / "code" / "train.py").write_text("print(1)")
    (tmp_path / "code" / "models" / "net.py").write_text("x = 1")
    page.goto("/launch/")
    page.fill("#id_command", "train.py 'open")
    page.fill("#id_env-0-name", "KEY")
    page.fill("#id_env-0-value", "s3cret")
    page.check("#id_env-0-secret")
    assert page.get_attribute("#id_env-0-value", "type") == "password"
    page.get_by_text("Upload a folder").click()
    page.set_input_files("#id_folder", tmp_path / "code")
    expect(page.locator("[data-folder-note]")).to_have_text("2 files chosen")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#form-summary")).to_be_focused()
    expect(page.locator("[data-error-for=command]")).to_contain_text("quote is opened")
    expect(page.locator("[data-error-for=name]")).to_contain_text("required")
    page.fill("#id_name", "mended")
    page.fill("#id_command", "train.py --lr 1")
    expect(page.locator("#shown-command")).to_contain_text("torch.distributed.run")
    page.locator("#launch").get_by_role("button", name="Launch").click()
    page.wait_for_url("**/runs/r-*/")
    run = Run.objects.get(name="mended")
    assert secrets.values_of(run) == {"KEY": "s3cret"}
    assert run.spec["upload_sha256"] == Upload.objects.get(files=2).sha256
    complaints.expected("422")


def test_a_variable_is_added_and_removed(page: Page) -> None:
    page.goto("/launch/")
    page.get_by_role("button", name="Add a variable").click()
    page.keyboard.type("SECOND")
    assert page.input_value("#id_env-1-name") == "SECOND"
    page.locator("[data-remove-row]").nth(1).click()
    expect(page.locator("#id_env-1-name")).to_be_hidden()
    assert page.input_value("#id_env-1-name") == ""


def test_the_theme_follows_the_system_until_a_choice_is_made_and_stays(page: Page) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(background)
    assert light != dark
    page.click("[data-theme-toggle]")
    assert page.evaluate(background) == light
    page.reload()
    assert page.evaluate(background) == light


def test_keys_reach_the_search_box_and_close_the_menu(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.locator("[name=q]")).to_be_focused()
    page.get_by_label("Account menu of").click()
    expect(page.get_by_role("link", name="API tokens")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="API tokens")).to_be_hidden()


def test_a_dangerous_act_asks_first(page: Page) -> None:
    page.goto("/accounts/tokens/")
    page.fill("#id_name", "ci")
    page.get_by_role("button", name="Create token").click()
    expect(page.locator("[data-secret]")).to_contain_text("plt_")
    page.get_by_role("button", name="Revoke").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("cell", name=re.compile("^ci"))).to_be_visible()
    page.get_by_role("button", name="Revoke").click()
    page.locator("dialog [data-yes]").click()
    expect(page.get_by_text("No tokens yet")).to_be_visible()


def test_of_two_acts_in_one_form_only_the_dangerous_one_asks(page: Page) -> None:
    User.objects.filter(username="ana").update(is_superuser=True)
    page.goto("/nodes/?q=gpu-a")
    node = page.locator(".node")
    node.get_by_role("button", name="Drain").click()
    expect(page).to_have_url(re.compile("/nodes/\\?q=gpu-a$"))
    expect(node.get_by_text("Drained", exact=True)).to_be_visible()
    node.get_by_role("button", name="Remove").click()
    expect(page.locator("dialog [data-question]")).to_contain_text("Remove gpu-a?")
    page.locator("dialog [data-yes]").click()
    expect(page.get_by_text("gpu-a is removed.")).to_be_visible()
    assert Node.objects.get(name__startswith="gpu-a").removed_at is not None


@pytest.mark.parametrize("width", [390, 1920])
def test_no_page_scrolls_sideways(page: Page, width: int, complaints: Complaints) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    for address in ("/", "/launch/", "/nodes/", "/projects/", "/projects/demo/", "/accounts/tokens/", "/nothing/"):
        page.goto(address)
        until_true(page, "width => document.documentElement.scrollWidth <= width", width)
    complaints.expected("404")  # the last one is no page
