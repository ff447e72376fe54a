import hashlib
import http.server
import io
import socket
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agent.test_state import command
from tests.conftest import free_port
from trainer_agent.agent.errors import CannotPrepare
from trainer_agent.agent.identity import Identity
from trainer_agent.agent.prepare import prepare
from trainer_agent.wire.messages import StartAttempt


def order(**fields: object) -> StartAttempt:
    return msgspec.structs.replace(command(), **{"master_port": free_port(), **fields})


def node(**fields: str) -> Identity:
    defaults: dict[str, Any] = {
        "node": "n",
        "name": "n",
        "token": "tok",
        "redis_url": "",
        "url": "",
        "python": sys.executable,
    }
    return Identity(**{**defaults, **fields})


def refusal(folder: Path, identity: Identity | None = None, **fields: object) -> CannotPrepare:
    with pytest.raises(CannotPrepare) as caught:
        prepare(order(**fields), identity or node(), folder)
    return caught.value


def test_a_script_that_does_not_exist_is_refused_with_the_path_that_was_looked_at(tmp_path: Path):
    found = refusal(tmp_path, argv=["train.py"], workdir=str(tmp_path))
    assert (found.reason, found.detail) == ("no_script", f"The script {tmp_path}/train.py does not exist.")
    assert refusal(tmp_path, argv=["python", "-u", "no/such.py"]).reason == "no_script"
    assert refusal(tmp_path, argv=["no-such-program"]).reason == "no_script"
    assert refusal(tmp_path, argv=["x" * 5000]).reason == "no_script"
    assert refusal(tmp_path, argv=["x" * 5000 + ".py"]).reason == "no_script"


def test_a_folder_or_an_interpreter_that_does_not_exist_is_refused(tmp_path: Path):
    assert refusal(tmp_path, workdir="/no/such").reason == "no_workdir"
    assert refusal(tmp_path, workdir="/" + "x" * 5000).reason == "no_workdir"
    assert refusal(tmp_path, node(python="/no/python")).reason == "spawn"


def test_a_port_in_use_is_refused_with_its_holder_on_the_first_node_only(tmp_path: Path):
    (tmp_path / "train.py").touch()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        here = {"argv": ["train.py"], "workdir": str(tmp_path), "master_port": port}
        found = refusal(tmp_path, **here)
        assert prepare(order(**here, node_rank=1), node(), tmp_path) == tmp_path
    assert found.reason == "port_in_use"
    assert f"Port {port}" in found.detail
    assert "pid" in found.detail


def test_a_run_without_source_starts_in_an_empty_folder_of_its_own(tmp_path: Path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "old").touch()
    work = prepare(order(argv=["-m", "json"]), node(), tmp_path)
    assert work == tmp_path / "work"
    assert list(work.iterdir()) == []


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    repo = tmp_path / "repo"
    repo.mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(repo)]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    for branch, text in (("main", "1"), ("other", "2")):
        subprocess.run([*git, "checkout", "-q", "-B", branch], check=True)
        (repo / "train.py").write_text(text)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", text], check=True)
    subprocess.run([*git, "checkout", "-q", "main"], check=True)
    return repo


@pytest.mark.parametrize(("ref", "text"), [("", "1"), ("main", "1"), ("other", "2")])
def test_code_comes_from_the_asked_ref_of_a_repository(tmp_path: Path, repository: Path, ref: str, text: str):
    work = prepare(order(argv=["train.py"], git_url=f"file://{repository}", git_ref=ref), node(), tmp_path)
    assert (work / "train.py").read_text() == text


@pytest.mark.parametrize(
    ("url", "ref", "says"),
    [
        ("ext::sh -c true", "", "no https"),
        ("--upload-pack=true", "", "no https"),
        ("file:///no/such/repo", "", "/no/such/repo"),
        ("", "no-such-branch", "no branch, tag or commit"),
        ("", "--help", "no branch, tag or commit"),
    ],
)
def test_a_repository_that_cannot_be_had_is_refused_with_the_reason(
    tmp_path: Path, repository: Path, url: str, ref: str, says: str
):
    found = refusal(tmp_path, git_url=url or f"file://{repository}", git_ref=ref)
    assert found.reason == "git"
    assert says in found.detail


@pytest.fixture
def uploads() -> Iterator[tuple[dict[str, bytes], str]]:
    """A server of archives that wants the node's token."""
    files: dict[str, bytes] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            allowed = self.headers["Authorization"] == "Bearer tok"
            body = files.get(self.path.rsplit("/", 1)[-1])
            self.send_response(200 if allowed and body is not None else 404)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield files, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def archive(name: str) -> tuple[str, bytes]:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.size = 2
        tar.addfile(info, io.BytesIO(b"ok"))
    return hashlib.sha256(out.getvalue()).hexdigest(), out.getvalue()


def test_an_upload_is_fetched_checked_and_unpacked(tmp_path: Path, uploads: tuple[dict[str, bytes], str]):
    files, url = uploads
    sha, body = archive("train.py")
    files[sha] = body
    work = prepare(order(argv=["train.py"], upload_sha256=sha), node(url=url), tmp_path)
    assert (work / "train.py").read_bytes() == b"ok"


def test_an_upload_that_is_damaged_hostile_or_missing_is_refused(tmp_path: Path, uploads: tuple[dict[str, bytes], str]):
    files, url = uploads
    sha, body = archive("../outside.py")
    files[sha] = body
    files["0" * 64] = body
    for wanted, says in ((sha, "unpacked"), ("0" * 64, "damaged"), ("1" * 64, "fetched")):
        found = refusal(tmp_path, node(url=url), upload_sha256=wanted)
        assert found.reason == "upload"
        assert says in found.detail
    assert not (tmp_path.parent / "outside.py").exists()
    assert not (tmp_path / "outside.py").exists()
