"""The launch form: what it makes, and what it says about each thing that is wrong."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests import builders
from webapp.accounts.models import User
from webapp.projects.models import Project, Role
from webapp.runs import lifecycle, secrets, uploads
from webapp.runs.models import Run, Upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ana=Role.EDITOR)


@pytest.fixture
def page(project: Project) -> Client:
    builders.node("gpu-a", slots=4)
    builders.node("gpu-b", slots=4)
    client = Client()
    client.force_login(User.objects.get(username="ana"))
    return client


def typed(*env: dict[str, str], **changes: Any) -> dict[str, Any]:
    """What a browser sends."""
    form = {"project": "demo", "name": "first", "command": "train.py --lr 3e-4", "source": "none", "nodes": "2",
            "ranks_per_node": "2", "grace": "20", "stop_signal": "SIGTERM", "retries": "0",
            "env-TOTAL_FORMS": str(len(env)), "env-INITIAL_FORMS": "0"}  # fmt: skip
    rows = {f"env-{i}-{key}": value for i, row in enumerate(env) for key, value in row.items()}
    return {**form, **rows, **changes}


def errors(answer: Any) -> dict[str, str]:
    """Field name to the error that stands beside it."""
    assert answer.status_code == 422
    slots = re.findall(r'data-error-for="([^"]+)"[^>]*>([^<]*)<', answer.content.decode())
    return {name: text.strip() for name, text in slots if text.strip()}


def test_a_launch_makes_a_queued_run_and_goes_to_its_page(page: Client) -> None:
    answer = page.post("/launch/", typed(
        {"name": "WANDB_MODE", "value": "off"}, {"name": "KEY", "value": "s3cret", "secret": "on"}, {},
        command="train.py --text 'two words' \\\n  --lr 3e-4", timeout_min="90", total_steps="8000", deep="on",
        stop_signal="SIGINT", retries="2",
    ))  # fmt: skip
    run = Run.objects.get()
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/runs/{run.uid}/"
    assert (run.status, run.world_size, run.total_steps, run.owner.username) == ("queued", 4, 8000, "ana")
    assert run.spec["argv"] == ["train.py", "--text", "two words", "--lr", "3e-4"]
    assert run.spec["env"] == {"WANDB_MODE": "off"}
    assert run.spec["secret_names"] == ["KEY"]
    assert (run.spec["timeout"], run.spec["deep"], run.spec["stop_signal"], run.spec["retries"]) == (
        5400,
        True,
        "SIGINT",
        2,
    )
    assert secrets.values_of(run) == {"KEY": "s3cret"}
    assert "s3cret" not in json.dumps(run.spec)


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"name": ""}, "name", "required"),
        ({"project": "other"}, "project", "valid choice"),
        ({"command": "train.py 'open"}, "command", "quote is opened"),
        ({"command": "train.py \\"}, "command", "ends with a backslash"),
        ({"command": "torchrun train.py"}, "command", "only your script"),
        ({"command": "  "}, "command", "required"),
        ({"source": "path", "workdir": "src"}, "workdir", "absolute path"),
        ({"source": "path"}, "workdir", "absolute path"),
        ({"source": "git", "git_url": "ext::sh -c id"}, "git_url", "https, ssh, git or file"),
        ({"source": "git", "git_url": "https://host/x", "git_ref": "--upload-pack=x"}, "git_ref", "no branch"),
        ({"source": "upload"}, "folder", "Choose a folder"),
        ({"nodes": "0"}, "nodes", "greater than or equal to 1"),
        ({"nodes": "many"}, "nodes", "whole number"),
        ({"nodes": "3"}, "nodes", "needs 3 nodes"),
        ({"ranks_per_node": "5"}, "nodes", "largest that could ever fit"),
        ({"grace": "-1"}, "grace", "greater than or equal to 0"),
        ({"stop_signal": "SIGKILL"}, "stop_signal", "valid choice"),
        ({"timeout_min": "0"}, "timeout_min", "greater than or equal to 0.1"),
        ({"total_steps": "0"}, "total_steps", "greater than or equal to 1"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named_in_place(page: Client, changes: dict[str, str], field: str, says: str) -> None:
    answer = page.post("/launch/", typed(**changes))
    assert says in errors(answer)[field]
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"name": "9X", "value": "1"}, "no name for a variable"),
        ({"name": "RANK", "value": "1"}, "set by Paceline itself"),
        ({"name": "", "value": "1"}, "has no name"),
        ({"name": "KEY", "value": "", "secret": "on", "kept": "on"}, "no earlier value"),
    ],
)
def test_a_wrong_variable_is_named_in_place(page: Client, row: dict[str, str], says: str) -> None:
    assert says in errors(page.post("/launch/", typed(row)))["env-0-name env-0-value"]


def test_a_variable_given_twice_is_refused(page: Client) -> None:
    answer = page.post("/launch/", typed({"name": "A", "value": "1"}, {"name": "A", "value": "2"}))
    assert "given twice" in errors(answer)["env-1-name env-1-value"]


def test_a_refused_form_keeps_what_was_typed_but_shows_no_secret(page: Client) -> None:
    rows = {"name": "PLAIN", "value": "kept-value"}, {"name": "KEY", "value": "s3cret", "secret": "on"}
    text = page.post("/launch/", typed(*rows, name="", command="train.py --seed 7")).content.decode()
    assert "train.py --seed 7" in text
    assert "kept-value" in text
    assert "s3cret" not in text
    assert 'aria-invalid="true"' in text


def test_running_again_fills_the_form_and_keeps_secrets_unseen(page: Client, project: Project) -> None:
    owner = User.objects.get(username="ana")
    asked = builders.spec(
        argv=["train.py", "a b"], env={"A": "1"}, git_url="https://host/x.git", git_ref="main", grace=5, timeout=600
    )
    first = lifecycle.create(
        project=project, owner=owner, name="first", spec=asked, secrets={"KEY": "s3cret", "OLD": "x-old"}
    )
    text = page.get(f"/launch/?from={first.uid}").content.decode()
    assert "train.py &#x27;a b&#x27;" in text
    assert "https://host/x.git" in text
    assert "kept; type to replace" in text
    assert "s3cret" not in text
    rows = [{"name": "A", "value": "1"}, {"name": "KEY", "value": "", "secret": "on", "kept": "on"},
            {"name": "OLD", "value": "x-new", "secret": "on", "kept": "on"}]  # fmt: skip
    page.post("/launch/", typed(*rows, **{"from": first.uid, "env-INITIAL_FORMS": "3", "name": "again"}))
    assert secrets.values_of(Run.objects.get(name="again")) == {"KEY": "s3cret", "OLD": "x-new"}


def test_a_folder_is_uploaded_with_its_paths(page: Client) -> None:
    files = [SimpleUploadedFile("train.py", b"print(1)"), SimpleUploadedFile("net.py", b"x = 1")]
    paths = json.dumps(["code/train.py", "code/models/net.py"])
    answer = page.post("/launch/", typed(source="upload", folder=files, paths=paths))
    assert answer.status_code == 302
    upload = Upload.objects.get()
    assert Run.objects.get().spec["upload_sha256"] == upload.sha256
    assert (upload.files, uploads.path(upload).exists()) == (2, True)


def test_a_path_that_leaves_the_folder_is_refused_beside_the_field(page: Client) -> None:
    paths = json.dumps(["code/../../etc/passwd"])
    answer = page.post("/launch/", typed(source="upload", folder=[SimpleUploadedFile("x", b"1")], paths=paths))
    assert "no path inside the folder" in errors(answer)["folder"]
    assert not Run.objects.exists()


def test_an_upload_of_another_project_cannot_be_named(page: Client) -> None:
    other = builders.project("other")
    Upload.objects.create(project=other, sha256="a" * 64, size=1)
    answer = page.post("/launch/", typed(source="upload", kept_upload="a" * 64))
    assert "Choose a folder" in errors(answer)["folder"]


def test_the_preview_is_the_command_that_each_node_runs(page: Client) -> None:
    text = page.post(
        "/launch/preview", {"command": "train.py --lr 1", "nodes": "2", "ranks_per_node": "4"}
    ).content.decode()
    text = re.sub("<[^>]+>", "", text)
    assert "-m torch.distributed.run --nnodes=2 --node-rank=NODE_RANK --nproc-per-node=4" in text
    assert "train.py --lr 1" in text


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"command": ""}, "Type a command"),
        ({"command": "a 'b"}, "quote is opened"),
        ({"command": "torchrun x.py"}, "only your script"),
        ({"command": "x.py", "nodes": "0"}, "greater than or equal to 1"),
        ({"command": "x.py", "nodes": "many"}, "integer"),
    ],
)
def test_the_preview_says_what_is_missing(page: Client, form: dict[str, str], says: str) -> None:
    answer = page.post("/launch/preview", form)
    assert answer.status_code == 200
    assert says in answer.content.decode()


def test_free_slots_are_shown_beside_the_form(page: Client) -> None:
    text = page.get("/launch/slots").content.decode()
    assert "8 of 8 slots free" in text
    assert "gpu-a" in text


def test_somebody_who_may_not_launch_is_told_where_to_go() -> None:
    client = Client()
    client.force_login(builders.user())
    assert "You cannot launch yet" in client.get("/launch/").content.decode()
