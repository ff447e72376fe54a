"""logs, metrics and export at the command line."""

import csv
import io
import json
import math
import threading
from pathlib import Path

import pyarrow.parquet
import pytest
from django.utils import timezone

from tests import builders
from tests.cli.conftest import Cli
from tests.telemetry.batches import samples, steps, tail, values
from webapp.accounts.models import User
from webapp.projects.models import Project
from webapp.runs.models import Attempt, Run, Status
from webapp.telemetry.logs import chunks_of

WROTE = b"step 1\n\xff\xfe\x00 no utf-8\r\nlast line without end"


@pytest.fixture
def attempt(ed: User) -> Attempt:
    return builders.running_attempt(nodes=2, ranks_per_node=1, in_project=Project.objects.get(slug="demo"))


@pytest.fixture
def run_id(attempt: Attempt) -> str:
    return attempt.run.uid


def log(attempt: Attempt, rank: int, data: bytes, offset: int = 0) -> None:
    for chunk in chunks_of(attempt, rank, offset, data, timezone.now()):
        chunk.save()


def end(attempt: Attempt) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(status=Status.ENDED)
    Run.objects.filter(pk=attempt.run_id).update(status=Status.ENDED, outcome="succeeded")


def test_one_ranks_log_is_byte_exact(cli: Cli, attempt: Attempt, run_id: str) -> None:
    log(attempt, 1, WROTE)
    done = cli("logs", run_id, "--rank", "1")
    assert (done.returncode, done.stdout, done.stderr) == (0, WROTE, b"")


def test_all_ranks_lines_carry_their_rank(cli: Cli, attempt: Attempt, run_id: str) -> None:
    log(attempt, 0, b"hello\n")
    log(attempt, 1, b"hello\n")
    log(attempt, -2, b"torchrun\n")
    assert cli("logs", run_id).stdout == b"[0] hello\n[1] hello\n[launcher 1] torchrun\n"
    document = json.loads(cli("logs", run_id, "--json").stdout)
    assert [(line["rank"], line["text"]) for line in document] == [(0, "hello"), (1, "hello"), (-2, "torchrun")]
    assert json.loads(cli("logs", run_id, "--rank", "1", "--json").stdout) == [{"rank": 1, "text": "hello"}]


def test_following_goes_on_to_the_last_byte(cli: Cli, attempt: Attempt, run_id: str) -> None:
    log(attempt, 0, b"one\ntw")
    said: dict[str, bytes] = {}

    def follow(*options: str) -> None:
        said[" ".join(options)] = cli("logs", run_id, "--follow", *options).stdout

    threads = [threading.Thread(target=follow, args=options) for options in (("--rank", "0"), ())]
    for thread in threads:
        thread.start()
    log(attempt, 0, b"o\nthree", offset=6)
    end(attempt)
    for thread in threads:
        thread.join(30)
    assert said == {"--rank 0": b"one\ntwo\nthree", "": b"[0] one\n[0] two\n[0] three\n"}


def test_metrics_come_at_full_resolution(cli: Cli, attempt: Attempt, run_id: str) -> None:
    tail(attempt, 1, steps=[steps([0, 1], range(500))], values=[values("loss", 1, {0: 0.1, 1: math.nan})])
    everything = json.loads(cli("metrics", run_id, "--name", "phase/step").stdout)
    assert [len(points) for points in everything["ranks"].values()] == [500, 500]
    one = json.loads(cli("metrics", run_id, "--name", "loss", "--rank", "1", "--attempt", "1", "--json").stdout)
    assert one["points"] == [[0, 0.1], [1, None]]
    text = cli("metrics", run_id, "--name", "loss", "--rank", "1", "--format", "csv").stdout.decode()
    assert [row["value"] for row in csv.DictReader(io.StringIO(text))] == ["0.1", "NaN"]
    names = cli("metrics", run_id).stdout.decode()
    assert "phase/step" in names
    unknown = cli("metrics", run_id, "--name", "nonsense")
    assert (unknown.returncode, unknown.stdout) == (1, b"")
    assert b"nonsense" in unknown.stderr


def test_export_holds_everything(cli: Cli, attempt: Attempt, run_id: str, tmp_path: Path) -> None:
    tail(attempt, 1, steps=[steps([0, 1], range(40))], values=[values("loss", 1, {0: 0.5, 1: math.nan})])
    tail(attempt, 2, samples=[samples("node/cpu", 0, {1_700_000_000.0: 12.5})])
    log(attempt, 1, WROTE)
    out = tmp_path / "out"
    done = cli("export", run_id, "-o", str(out), "--json")
    assert done.returncode == 0, done.stderr
    files = set(json.loads(done.stdout)["files"])
    assert files == {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert json.loads((out / "run.json").read_text())["id"] == run_id
    assert json.loads((out / "attempt-1" / "ledger.json").read_text())["ranks"]["0"]["stored"] == 40
    assert (out / "attempt-1" / "logs" / "rank1.log").read_bytes() == WROTE
    rows = pyarrow.parquet.read_table(out / "attempt-1" / "metrics.parquet").to_pylist()
    loss = [(row["index"], row["rank"], row["value"]) for row in rows if row["metric"] == "loss"]
    assert loss[0] == (0, 1, 0.5)
    assert math.isnan(loss[1][2])
    backward = [row["value"] for row in rows if row["metric"] == "phase/backward" and row["rank"] == 0]
    assert backward == [0.05] * 40
    cpu = next(row for row in rows if row["metric"] == "node/cpu")
    assert (cpu["axis"], cpu["unit"], cpu["index"]) == ("time", "%", 1_700_000_000)


def test_a_folder_that_cannot_be_written_is_a_sentence(cli: Cli, attempt: Attempt, run_id: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = cli("export", run_id, "-o", str(tmp_path / "file" / "out"))
    assert refused.returncode == 1
    assert refused.stderr.startswith(b"paceline: ")
    assert b"Traceback" not in refused.stderr
