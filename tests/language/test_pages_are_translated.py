"""Every page in a language that marks what is translated: what is left are names, units and code."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.http import FileResponse
from django.test import Client, override_settings

from tests.access import world
from tests.access.addresses import Address
from tests.access.rules import MACHINE
from tests.access.table import PAGES
from tests.language import marked
from webapp.accounts.models import ApiToken, User
from webapp.alerts.models import Rule
from webapp.artifacts.models import Artifact
from webapp.history.models import SavedView
from webapp.nodes.models import Node
from webapp.projects.models import Project
from webapp.reports.models import Report
from webapp.runs.models import Run
from webapp.sweeps.models import Sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]

_WORD = re.compile(r"[A-Za-z]{3,}")
# Names of products and parts, units, and what is typed just so (runs, nodes and exports are called r-…, n-…, x-…).
_SAME = r"Paceline|UTC|CPU|GPUs?|NCCL|torch|Python|GB/s|SHA-\d+|PID|API|HTTP|Ctrl|Esc|Enter"
_TYPED = (
    r"NAME|/\w+/\S+|--\w+|log 1e-5|\b[rnx]-\w{6,}|PACELINE_TOKEN=.*|\S+\.example\.org|\S+@example\.org|^(loss|said)$"
)


@pytest.fixture
def marking(tmp_path: Path) -> Iterator[None]:
    marked.write(tmp_path)
    with override_settings(LOCALE_PATHS=[tmp_path]):
        yield


@pytest.mark.usefixtures("marking")
def test_pages_show_translated_texts_only() -> None:
    things = world.build()
    client = Client(headers={"Accept-Language": "pt-br"})
    client.force_login(User.objects.get(username="superuser"))
    same = re.compile("|".join([_SAME, _TYPED, *sorted(map(re.escape, _names()), key=len, reverse=True)]))
    left: dict[str, list[str]] = {}
    for name, page in _pages(client, things):
        found = [text for text in marked.unmarked(page) if _WORD.search(same.sub("", text))]
        left |= {name: sorted(set(found))} if found else {}
    assert not left, json.dumps(left, indent=1, ensure_ascii=False)


def _pages(client: Client, things: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """All that a site's administrator can open."""
    for name, rule in PAGES.items():
        if rule.reads and rule.who != MACHINE:
            answer: Any = client.get(Address(name, "", "").filled(things, rule), follow=True)
            if answer.headers.get("Content-Type", "").startswith("text/html"):
                yield name, answer.content.decode()
            elif isinstance(answer, FileResponse):
                b"".join(answer)  # its file is closed at its end


def _names() -> set[str]:
    """What people have called the things of the world."""
    rows: list[Any] = [*Project.objects.all(), *Run.objects.all(), *Node.objects.all(), *Rule.objects.all()]
    rows += [*Sweep.objects.all(), *SavedView.objects.all(), *ApiToken.objects.all(), *Artifact.objects.all()]
    rows += [person.username for person in User.objects.all()] + [report.title for report in Report.objects.all()]
    return {row if isinstance(row, str) else row.name for row in rows}
