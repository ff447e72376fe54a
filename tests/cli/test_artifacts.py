"""Files of a run at the command line."""

import hashlib
import json
from pathlib import Path

from tests import builders
from tests.cli.conftest import Cli
from tests.way import way_to
from webapp.projects.models import Project


def test_a_file_is_added_listed_fetched_and_deleted(cli: Cli, tmp_path: Path) -> None:
    run = builders.running_attempt(in_project=Project.objects.get(slug="demo")).run.uid
    weights = tmp_path / "best é.pt"
    weights.write_bytes(b"\x00weights")
    sha = hashlib.sha256(b"\x00weights").hexdigest()
    put = cli("artifact", "put", run, str(weights), "--name", "checkpoints/best é.pt")
    assert put.stdout.decode() == f"checkpoints/best é.pt  8 bytes  sha256 {sha}\n"
    assert cli("artifact", "put", run, str(weights), "--name", "by path", "--by-path").returncode == 0
    listed = json.loads(cli("artifact", "ls", run, "--json").stdout)
    assert {one["name"]: (one["kind"], one["size"], one["sha256"]) for one in listed} == {
        "checkpoints/best é.pt": ("kept", 8, sha),
        "by path": ("path", 8, sha),
    }
    fetched = tmp_path / "fetched.pt"
    assert cli("artifact", "get", run, "checkpoints/best é.pt", "-o", str(fetched)).returncode == 0
    assert fetched.read_bytes() == b"\x00weights"
    assert cli("artifact", "rm", run, "checkpoints/best é.pt").returncode == 0
    gone = cli("artifact", "get", run, "checkpoints/best é.pt", "-o", str(tmp_path / "again"))
    assert gone.returncode == 1
    assert not list(tmp_path.glob("again*"))


def test_a_download_goes_on_when_its_connection_breaks(cli: Cli, server_url: str, tmp_path: Path) -> None:
    run = builders.running_attempt(in_project=Project.objects.get(slug="demo")).run.uid
    weights, fetched = tmp_path / "large", tmp_path / "fetched"
    weights.write_bytes(b"".join(number.to_bytes(8, "little") for number in range(400_000)))
    assert cli("artifact", "put", run, str(weights)).returncode == 0
    with way_to(server_url, most=1_500_000) as way:
        got = cli("artifact", "get", run, "large", "-o", str(fetched), PACELINE_URL=way.url)
        assert (got.returncode, got.stderr) == (0, b"")
        assert way.connections == 3
    assert fetched.read_bytes() == weights.read_bytes()
    with way_to(server_url, most=0) as way:
        never = cli("artifact", "get", run, "large", "-o", str(tmp_path / "again"), PACELINE_URL=way.url)
        assert (never.returncode, b"Cannot reach" in never.stderr) == (1, True)
    assert not list(tmp_path.glob("again*"))
