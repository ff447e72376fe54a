"""Which server, and as whom."""

import json
import stat
from pathlib import Path

from tests.cli.conftest import Cli
from tests.settings import free_port
from webapp.accounts.models import ApiToken, User


def test_a_saved_login_serves_later_commands_and_only_its_owner_reads_it(
    paceline: Cli, ed: User, server_url: str, environment: dict[str, str]
) -> None:
    secret = ApiToken.issue(ed, "laptop")[1]
    done = paceline("login", server_url, stdin=f"{secret}\n".encode())
    assert done.returncode == 0, done.stderr
    assert b"as ed." in done.stdout
    assert secret.encode() not in done.stdout + done.stderr
    saved = Path(environment["PACELINE_CONFIG"])
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert json.loads(paceline("ls", "--json").stdout) == []


def test_a_saved_token_is_not_sent_to_another_server(paceline: Cli, ed: User, server_url: str) -> None:
    assert paceline("login", server_url, "--token", ApiToken.issue(ed, "laptop")[1]).returncode == 0
    refused = paceline("ls", PACELINE_URL="http://127.0.0.1:9")
    assert refused.returncode == 1
    assert b"No token for http://127.0.0.1:9" in refused.stderr


def test_a_wrong_token_is_not_saved(paceline: Cli, ed: User, server_url: str, environment: dict[str, str]) -> None:
    refused = paceline("login", server_url, "--token", "plt_nonsense")
    assert refused.returncode == 1
    assert b"unknown or was revoked" in refused.stderr
    assert not Path(environment["PACELINE_CONFIG"]).exists()


def test_without_a_login_the_sentence_says_what_to_do(paceline: Cli) -> None:
    refused = paceline("ls")
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert b"paceline login URL" in refused.stderr
    assert b"Traceback" not in refused.stderr


def test_a_server_that_is_away_or_no_server_is_a_sentence(paceline: Cli) -> None:
    for url in (f"http://127.0.0.1:{free_port()}", "http://no.such.host.invalid", "nonsense"):
        refused = paceline("ls", PACELINE_URL=url, PACELINE_TOKEN="x")
        assert refused.returncode == 1
        assert refused.stderr.count(b"\n") == 1, refused.stderr
        assert url.encode() in refused.stderr


def test_tokens_are_made_listed_and_revoked(cli: Cli, server_url: str) -> None:
    secret = cli("token", "create", "ci", "--days", "3").stdout.decode().strip()
    assert cli("ls", PACELINE_TOKEN=secret).returncode == 0
    made = next(t for t in json.loads(cli("token", "ls", "--json").stdout) if t["name"] == "ci")
    assert b"ci" in cli("token", "ls").stdout
    assert cli("token", "revoke", str(made["id"])).returncode == 0
    refused = cli("ls", PACELINE_TOKEN=secret)
    assert refused.returncode == 1
    assert b"paceline login" in refused.stderr
