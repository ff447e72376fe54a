"""submit, ls, show, stop and wait at the command line."""

import json
import threading
from pathlib import Path

from django.utils import timezone

from tests import builders
from tests.cli.conftest import Cli
from webapp.projects.models import Role
from webapp.runs.models import Attempt, Run, Upload


def submit(cli: Cli, *options: str, **shell: str) -> str:
    command = ("submit", "--project", "demo", "--name", "tiny", *options, "--", "/srv/train.py", "--lr", "0.1")
    done = cli(*command, **shell)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().removesuffix("\n")


def end(run_id: str, outcome: str, cause: str = "") -> None:
    fields = {"status": "ended", "outcome": outcome, "cause": cause, "ended_at": timezone.now()}
    Attempt.objects.filter(run__uid=run_id).update(**fields)
    Run.objects.filter(uid=run_id).update(**fields)


def test_submit_prints_the_run_id_alone_and_sends_what_was_asked(cli: Cli) -> None:
    where = ("--nodes", "2", "--ranks-per-node", "2", "--workdir", "/srv")
    values = ("--env", "A=1", "--env", "B=x=y", "--secret", "KEY=hush", "--secret", "SHELL_KEY")
    limits = ("--grace", "5", "--retries", "1", "--timeout", "60", "--deep")
    run = Run.objects.get(uid=submit(cli, *where, *values, *limits, SHELL_KEY="quiet"))
    assert run.spec["argv"] == ["/srv/train.py", "--lr", "0.1"]
    asked = {key: run.spec[key] for key in ("nodes", "ranks_per_node", "env", "workdir", "grace", "retries", "timeout")}
    assert asked == {
        "nodes": 2,
        "ranks_per_node": 2,
        "env": {"A": "1", "B": "x=y"},
        "workdir": "/srv",
        "grace": 5.0,
        "retries": 1,
        "timeout": 60.0,
    }
    assert run.spec["deep"] is True
    assert run.spec["secret_names"] == ["KEY", "SHELL_KEY"]


def test_submit_without_a_name_takes_the_scripts(cli: Cli) -> None:
    done = cli("submit", "--project", "demo", "/srv/train.py", "--lr", "0.1", "--json")
    assert done.returncode == 0, done.stderr
    run = Run.objects.get(uid=json.loads(cli("ls", "--json").stdout)[0]["id"])
    assert (run.name, run.spec["argv"]) == ("train", ["/srv/train.py", "--lr", "0.1", "--json"])


def test_submit_takes_git_and_a_ref(cli: Cli) -> None:
    run = Run.objects.get(uid=submit(cli, "--git", "https://host.example/a.git", "--ref", "v1"))
    assert (run.spec["git_url"], run.spec["git_ref"]) == ("https://host.example/a.git", "v1")


def test_submit_uploads_a_folder_without_its_caches(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    (folder / "pkg" / "__pycache__").mkdir(parents=True)
    (folder / "train.py").write_text("print(1)")
    (folder / "pkg" / "model.py").write_text("")
    (folder / "pkg" / "__pycache__" / "model.pyc").write_bytes(b"x")
    run = Run.objects.get(uid=submit(cli, "--upload", str(folder)))
    assert Upload.objects.get(sha256=run.spec["upload_sha256"]).files == 2


def test_refused_fields_are_named_one_a_line(cli: Cli) -> None:
    refused = cli("submit", "--project", "demo", "--name", "n", "--nodes", "9", "--", "/srv/train.py")
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert b"\n  nodes: This needs 9 nodes; there are 2." in refused.stderr
    assert b"Traceback" not in refused.stderr
    assert Run.objects.count() == 0


def test_what_the_command_line_can_see_is_refused_before_anything_is_sent(cli: Cli, tmp_path: Path) -> None:
    base = ("submit", "--project", "demo", "--name", "n")
    for options, said in (
        (("--env", "NOVALUE", "--", "a.py"), b"NAME=VALUE"),
        (("--secret", "NOT_SET_HERE", "--", "a.py"), b"not set in this environment"),
        (("--ref", "main", "--", "a.py"), b"--ref needs --git"),
        (("--workdir", "/srv", "--git", "https://h/x", "--", "a.py"), b"Choose one"),
        ((), b"SCRIPT"),
    ):
        refused = cli(*base, *options)
        assert refused.returncode == 2
        assert said in refused.stderr


def test_an_unknown_project_and_a_viewers_role_are_told(cli: Cli) -> None:
    builders.project("seen", ed=Role.VIEWER)
    unknown = cli("submit", "--project", "nowhere", "--name", "n", "--", "/a.py")
    assert (unknown.returncode, unknown.stderr.count(b"\n")) == (1, 1)
    assert b"nowhere" in unknown.stderr
    forbidden = cli("submit", "--project", "seen", "--name", "n", "--", "/a.py")
    assert forbidden.returncode == 1
    assert b"role editor" in forbidden.stderr


def test_ls_and_show_for_people_and_for_scripts(cli: Cli) -> None:
    run_id = submit(cli, "--nodes", "2")
    listed = json.loads(cli("ls", "--json").stdout)
    shown = json.loads(cli("show", run_id, "--json").stdout)
    assert listed == [shown]
    assert json.loads(cli("--json", "show", run_id).stdout) == shown
    header, row = cli("ls", "tiny", "--status", "queued").stdout.decode().splitlines()
    assert header.split()[:5] == ["ID", "NAME", "PROJECT", "OWNER", "STATUS"]
    assert row.split()[:5] == [run_id, "tiny", "demo", "ed", "queued"]
    assert header.index("STATUS") == row.index("queued")
    text = cli("show", run_id).stdout.decode()
    assert "torch.distributed.run" in text
    assert "2 on 2 nodes" in text


def test_an_unknown_run_is_a_sentence_for_every_command(cli: Cli, tmp_path: Path) -> None:
    for command in (
        ("show", "r-nobody"),
        ("stop", "r-nobody"),
        ("wait", "r-nobody"),
        ("logs", "r-nobody"),
        ("logs", "r-nobody", "--rank", "0"),
        ("metrics", "r-nobody", "--name", "loss"),
        ("incidents", "r-nobody"),
        ("export", "r-nobody", "-o", str(tmp_path / "out")),
        ("show", "../tokens"),
    ):
        refused = cli(*command)
        assert (refused.returncode, refused.stdout) == (1, b""), command
        assert refused.stderr.startswith(b"paceline: "), refused.stderr
        assert refused.stderr.count(b"\n") == 1, refused.stderr


def test_wait_says_how_it_ended_by_its_exit_code(cli: Cli) -> None:
    run_id = submit(cli)
    waiting = cli("wait", run_id, "--timeout", "0.2")
    assert waiting.returncode == 124
    assert b"still queued" in waiting.stderr
    end(run_id, "succeeded")
    assert cli("wait", run_id).returncode == 0
    end(run_id, "failed", "code")
    failed = cli("wait", run_id, "--timeout", "5", "--json")
    assert (failed.returncode, json.loads(failed.stdout)["cause"]) == (1, "code")


def test_wait_goes_on_until_the_run_has_ended(cli: Cli) -> None:
    run_id = submit(cli)
    codes: list[int] = []
    waiting = threading.Thread(target=lambda: codes.append(cli("wait", run_id, "--timeout", "30").returncode))
    waiting.start()
    assert cli("stop", run_id).returncode == 0
    waiting.join(30)
    assert codes == [1]


def test_stop_ends_a_queued_run_and_says_so(cli: Cli) -> None:
    run_id = submit(cli)
    stopped = cli("stop", run_id)
    assert stopped.returncode == 0
    assert b"ended: stopped (user)" in stopped.stdout
    assert json.loads(cli("stop", run_id, "--json").stdout)["outcome"] == "stopped"


def test_incidents_of_a_healthy_run_are_an_empty_list(cli: Cli) -> None:
    run_id = submit(cli)
    assert json.loads(cli("incidents", run_id, "--json").stdout) == []
    assert cli("incidents", run_id).stdout == b""
