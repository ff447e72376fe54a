"""Links to a run, and what stands below their address."""

from urllib.parse import urlsplit

from django.test import Client

from tests.pages.people import Team
from webapp.runs.models import Run

PARTS = (
    "",
    "header",
    "ledger",
    "panels?ids=step_time,value:loss",
    "keys",
    "logs",
    "live",
)


def make(team: Team, run: Run, **asked: object) -> str:
    """The path of a new link, made by an editor through the dialog."""
    sent = {"days": 7, "view": "", **asked}
    answer = team.client("editor").post(f"/runs/{run.uid}/links", sent)
    assert answer.status_code == 200, answer.content
    found = answer.content.decode().split('id="share-address">')[1].split("<")[0]
    return urlsplit(found.replace("&amp;", "&")).path


def revoke(team: Team, run: Run) -> None:
    link = run.share_links.get()
    assert team.client("editor").post(f"/runs/{run.uid}/links/{link.pk}/revoke").status_code == 200


def statuses(path: str) -> dict[str, int]:
    """What a browser without an account gets at each address of the link."""
    return {part: Client().get(path + part).status_code for part in PARTS}
