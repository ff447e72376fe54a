"""A run as one .zip: what is in it, how far it is, who may fetch it, and workers that are killed."""

import csv
import io
import json
import zipfile
import zlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.utils import timezone

from tests import builders
from tests.api.asking import asker, body
from tests.api.test_logs import store
from tests.telemetry.batches import steps, tail, values
from webapp.exports import archive, lifecycle, plan
from webapp.exports.models import Export, State
from webapp.projects.models import Role
from webapp.provenance.models import Provenance
from webapp.runs import secrets
from webapp.runs.models import Attempt
from webapp.telemetry.read import series
from workers import exports

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]
ALL = ["parquet", "csv", "json", "logs"]


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    settings.HOME_DIR = tmp_path
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path


@pytest.fixture
def attempt() -> Attempt:
    made = builders.running_attempt(nodes=1, ranks_per_node=2)
    tail(made, 1, steps=[steps([0, 1], [*range(40), *range(50, 100)])], values=[values("a/b: c", 0, {0: 1.5, 7: 2.5})])
    store(made, 1, b"hello\nworld\n")
    Provenance.objects.create(part=made.parts.get(), commit="c0ffee", diff=zlib.compress(b"+lr = 2"))
    secrets.keep(made.run, {"API_KEY": "very secret words"})
    return made


def turns(row: Export, most: int = 60) -> int:
    """Turn until it is ready; how many turns that took."""
    for number in range(1, most + 1):
        exports.turn()
        row.refresh_from_db()
        if row.state not in lifecycle.OPEN:
            return number
    raise AssertionError(f"{row.state} after {most} turns, {row.units_done} units")


def opened(row: Export) -> zipfile.ZipFile:
    found = zipfile.ZipFile(io.BytesIO(body(asker(row.owner).get(f"/exports/{row.uid}/file"))))
    assert found.testzip() is None
    return found


def test_every_point_the_gaps_and_the_logs_are_in_it_and_secrets_are_not(attempt: Attempt) -> None:
    row = lifecycle.start(attempt.run, attempt.run.owner, ALL)
    turns(row)
    made = opened(row)
    every = b"".join(made.read(name) for name in made.namelist())
    assert b"very secret words" not in every
    assert json.loads(made.read("run.json"))["id"] == attempt.run.uid
    assert json.loads(made.read("attempt-1/ledger.json"))["ranks"]["0"]["gaps"][0][:2] == [40, 49]
    (told,) = json.loads(made.read("attempt-1/provenance.json"))
    assert (told["node_rank"], told["commit"], told["diff"]) == (0, "c0ffee", "+lr = 2")
    assert made.read("attempt-1/logs/rank1.log") == b"hello\nworld\n"
    table = pyarrow.parquet.read_table(io.BytesIO(made.read("attempt-1/metrics/part-00000.parquet"))).to_pylist()
    step = [r for r in table if r["metric"] == "phase/step"]
    stored = series(attempt, "phase/step")
    assert {(r["index"], r["rank"]): r["value"] for r in step} == {
        (int(i), c): float(stored.values[k, n])
        for k, i in enumerate(stored.index)
        for n, c in enumerate(stored.columns)
    }
    assert step[0]["unit"] == "s"
    lines = csv.reader(made.read("attempt-1/metrics/a_b_c.csv").decode().splitlines())
    assert list(lines) == [["step", "rank", "value"], ["0", "0", "1.5"], ["7", "0", "2.5"]]
    assert json.loads(made.read("attempt-1/metrics/a_b_c.json"))["ranks"] == {"0": [[0, 1.5], [7, 2.5]]}
    named = {one["name"]: one["file"] for one in json.loads(made.read("attempt-1/metrics.json"))}
    assert named["a/b: c"] == "a_b_c"


def test_it_is_made_in_slices_and_a_killed_worker_costs_one_of_them(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "POINTS", 60)  # so that metrics are cut into windows
    row = lifecycle.start(attempt.run, attempt.run.owner, ["csv", "logs"])
    claimed = lifecycle.claim(timezone.now())
    assert claimed is not None
    exports.work(claimed, seconds=0.0)  # one unit a slice
    row.refresh_from_db()
    assert row.units_done == 1
    half = lifecycle.claim(timezone.now())
    assert half is not None
    with monkeypatch.context() as patch:
        patch.setattr(archive, "closed", _killed)
        with pytest.raises(KeyboardInterrupt):
            exports.work(half, seconds=0.0)
    assert lifecycle.claim(timezone.now()) is None  # until its claim has run out
    Export.objects.filter(pk=row.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    monkeypatch.setattr(exports, "SLICE_S", 0.0)
    monkeypatch.setattr(exports.work, "__defaults__", (0.0,))
    assert turns(row) > 5
    assert row.progress == 1.0
    made = opened(row)
    assert len(set(made.namelist())) == len(made.namelist())
    parts = sorted(name for name in made.namelist() if "phase_step." in name)
    assert len(parts) > 1
    cells = [line for name in parts for line in made.read(name).decode().splitlines()[1:]]
    assert len(cells) == len(set(cells)) == 180


def _killed(*_arguments: Any) -> int:
    raise KeyboardInterrupt


def test_an_export_that_kills_its_worker_again_and_again_is_given_up(attempt: Attempt) -> None:
    row = lifecycle.start(attempt.run, attempt.run.owner, ["logs"])
    long_ago = timezone.now() - timedelta(hours=1)
    for number in range(lifecycle.MOST_TRIES):
        assert lifecycle.claim(long_ago + 2 * number * lifecycle.CLAIM) is not None
    exports.turn()
    row.refresh_from_db()
    assert (row.state, row.error) == (State.FAILED, "killed")
    assert "worker" in asker(row.owner).get(f"/exports/{row.uid}").json()["sentence"]


def test_only_who_sees_the_run_now_may_fetch_it_and_only_for_a_week(attempt: Attempt, home: Path) -> None:
    project = attempt.run.project
    ask = asker(attempt.run.owner)
    made = ask.post(f"/runs/{attempt.run.uid}/exports", {"kinds": ["logs"]})
    assert made.status_code == 201
    assert ask.get(f"/exports/{made.json()['id']}/file").status_code == 404
    row = Export.objects.get(uid=made.json()["id"])
    turns(row)
    assert ask.get(f"/exports/{row.uid}").json()["url"].endswith(f"/api/v1/exports/{row.uid}/file")
    friend = builders.user("friend")
    assert asker(friend).get(f"/exports/{row.uid}/file").status_code == 404
    seat = project.memberships.create(user=friend, role=Role.VIEWER)
    assert body(asker(friend).get(f"/exports/{row.uid}/file")).startswith(b"PK")
    seat.delete()
    assert asker(friend).get(f"/exports/{row.uid}/file").status_code == 404
    Export.objects.filter(pk=row.pk).update(expires_at=timezone.now())
    assert ask.get(f"/exports/{row.uid}/file").status_code == 404
    exports.turn()
    assert ask.get(f"/exports/{row.uid}").json()["state"] == "expired"
    assert not default_storage.exists(f"exports/{row.uid}.zip")
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_the_page_starts_one_shows_how_far_it_is_and_links_to_the_file(attempt: Attempt) -> None:
    client = Client()
    client.force_login(attempt.run.owner)
    address = f"/runs/{attempt.run.uid}/exports/"
    assert "Nothing was exported yet" in client.get(address).content.decode()
    assert client.post(address, {}).status_code == 422
    assert client.post(address, {"kinds": ["parquet", "logs"]}).status_code == 302
    row = Export.objects.get()
    going = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<progress" in going
    assert "hx-trigger" in going
    turns(row)
    ready = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "hx-trigger" not in ready
    assert f"/exports/{row.uid}/file" in ready
    answer = client.get(f"/exports/{row.uid}/file")
    assert answer["Content-Disposition"] == f'attachment; filename="{attempt.run.uid}.zip"'
    assert len(body(answer)) == int(answer["Content-Length"]) == row.size
