"""`/checks`: nodes and the links between them checked on demand, as before a run that asks for it."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Router, Status

from webapp.api.auth import person
from webapp.api.errors import invalid
from webapp.api.schemas import CheckIn, CheckOut, Failure
from webapp.preflight import lifecycle, page, queries, words
from webapp.preflight.link_verdict import Cell
from webapp.preflight.models import Check, Stage
from webapp.preflight.read import verdict_of

router = Router(tags=["nodes"])
MOST = 20


@router.post("", response={202: CheckOut, 403: Failure, 422: Failure}, summary="Check nodes and their links")
def check(request: HttpRequest, asked: CheckIn) -> Status[dict[str, Any]]:
    """Answers at once; read it again until `done`, a minute later at most."""
    who = person(request)
    queries.require_may_check(who)
    nodes, unknown = queries.named(asked.nodes) if asked.nodes else (list(queries.ours()), [])
    if unknown or not nodes:
        told = _("There is no node “%(name)s”.") % {"name": unknown[0]} if unknown else _("No node has joined yet.")
        raise invalid({"nodes": told})
    return Status(202, _shown(lifecycle.begin(nodes, by=who.username)))


@router.get("", response=list[CheckOut], summary="Checks, newest first")
def checks(request: HttpRequest) -> list[dict[str, Any]]:
    return [_shown(row) for row in queries.checks_seen_by(person(request))[:MOST]]


@router.get("/{pk}", response={200: CheckOut, 404: Failure}, summary="One check")
def one(request: HttpRequest, pk: int) -> dict[str, Any]:
    return _shown(lifecycle.advance(queries.check_for(person(request), pk)))


def _shown(row: Check) -> dict[str, Any]:
    nodes, verdict = verdict_of(row)
    done = row.stage == Stage.DONE
    names = [node.node_name for node in nodes]
    return {
        "id": row.pk,
        "run": row.attempt.run.uid if row.attempt else None,
        "asked_at": row.asked_at,
        "asked_by": row.asked_by,
        "done": done,
        "level": row.level or None,
        "sentence": words.head(row.level, row.findings, len(nodes)) if done else "",
        "nodes": names,
        "findings": [page.shown(finding) for finding in row.findings],
        "links": [_link(names, pair, cell) for pair, cell in sorted(verdict.cells.items())],
        "url": settings.PUBLIC_URL.rstrip("/") + reverse("preflight:detail", args=[row.pk]),
    }


def _link(names: list[str], pair: tuple[int, int], cell: Cell) -> dict[str, Any]:
    link = cell.link
    error = link.error or link.meeting or None
    ends = {"source": names[pair[0]], "target": names[pair[1]], "level": cell.level, "error": error}
    return {**ends, "mb_s": link.mb_s, "rtt_ms": link.rtt_ms, "usual_mb_s": link.usual_mb_s}
