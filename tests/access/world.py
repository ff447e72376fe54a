"""One project with one of everything that an address can name, and the people around it."""

import zlib
from datetime import timedelta
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from tests import builders
from tests.incidents.found import incident
from webapp.accounts.models import ApiToken, User
from webapp.alerts import channels
from webapp.alerts.models import Rule, Silence
from webapp.artifacts import store
from webapp.artifacts.models import Artifact
from webapp.exports.models import Export
from webapp.history.models import SavedView
from webapp.imports.lifecycle import Asked, begin
from webapp.incidents.models import Autopsy
from webapp.invitations import lifecycle as invitations
from webapp.notes import lifecycle as notes
from webapp.preflight.models import Check
from webapp.projects import service_tokens
from webapp.projects.models import Membership, Role
from webapp.provenance.models import Provenance
from webapp.reports import lifecycle as reports
from webapp.runs.models import Run
from webapp.sharing import lifecycle as sharing
from webapp.sweeps.models import Sweep

# Whom every address is tried with; the owner of what is somebody's own is the admin.
PEOPLE = ("stranger", "viewer", "editor", "admin", "superuser")


def build() -> dict[str, Any]:
    """Name of a thing to what stands for it in an address. Names of addresses' parts are among them."""
    project = builders.project("demo", viewer=Role.VIEWER, editor=Role.EDITOR, admin=Role.ADMIN)
    builders.user("stranger")
    builders.user("superuser", is_superuser=True)
    admin = User.objects.get(username="admin")
    attempt = builders.running_attempt(in_project=project)
    node = attempt.parts.get(node_rank=0).node
    assert node is not None
    now = timezone.now()
    found = incident(attempt)
    Provenance.objects.create(part=attempt.parts.get(node_rank=0), diff=zlib.compress(b"+lr = 2"))
    link, shared = sharing.make(attempt.run, admin, view="", days=None, with_logs=True)
    invited, secret = invitations.invite(project, "new@example.org", Role.VIEWER, admin)
    return {
        "slug": "demo",
        "uid": attempt.run.uid,
        "run_id": attempt.run.uid,
        "name": node.name,
        "node": node.uid,
        "kind": "metric",
        "sha256": "0" * 64,
        "uidb36": "1",
        "key": "no-such-key",
        "provider_id": "oidc",
        "secret": secret,
        "invitation": invited.pk,
        "link": link.pk,
        "comment": notes.comment(attempt.run, admin, "said").pk,
        "shared": shared,
        "incident": found.pk,
        "artifact": _artifact(attempt.run),
        "artifact_name": "best.pt",
        "autopsy": Autopsy.objects.create(attempt=attempt, asked_by="admin").pk,
        "rule": Rule.objects.create(project=project, name="a rule", kind="metric", metric="loss", threshold=1.0).pk,
        "channel": _channel(project),
        "silence": Silence.objects.create(project=project, since=now, until=now + timedelta(hours=1), reason="-").pk,
        "token": ApiToken.issue(admin, "own")[0].pk,
        "service_token": service_tokens.make(project, "nightly", Role.VIEWER, None)[0].pk,
        "membership": Membership.objects.get(user__username="viewer").pk,
        "person": builders.user("somebody").pk,
        "view": SavedView.objects.create(project=project, name="mine", query="").pk,
        "check": Check.objects.create(attempt=attempt, stage_until=now).pk,
        "imported": begin(project, admin, Asked("mlflow", "mlflow:1", "x", live=True)).run.uid,
        "export": _export(attempt.run, admin),
        **_sweep(project, admin),
        **_report(project, admin, attempt.run.uid),
    }


def _artifact(run: Run) -> int:
    content = store.put("content", ContentFile(b""))
    return Artifact.objects.create(run=run, name="best.pt", kind="kept", size=0, content=content).pk


def _channel(project: Any) -> int:
    channels.add(project, "webhook", "https://hooks.example.org/x", "")
    return int(project.alert_channels.get().pk)


def _export(run: Run, owner: User) -> str:
    name = default_storage.save("exports/made.zip", ContentFile(b"PK"))
    until = timezone.now() + timedelta(days=1)
    return Export.objects.create(run=run, owner=owner, kinds=["logs"], state="done", file=name, expires_at=until).uid


def _report(project: Any, author: User, uid: str) -> dict[str, Any]:
    block = {"kind": "curves", "runs": [uid], "metrics": ["loss"]}
    report = reports.make(project, author, "report", [block])
    return {"report": report.uid, "block": report.blocks.get().pk}


def _sweep(project: Any, owner: User) -> dict[str, str]:
    row = Sweep.objects.create(
        project=project,
        owner=owner,
        name="sweep",
        spec=builders.spec().model_dump(),
        space=[["lr", "0.1, 0.2"]],
        method="grid",
        goal="loss",
        most_runs=2,
    )
    return {"sweep": row.uid, "sweep_id": row.uid}
