"""The HTTP API: one router per thing, one way to authenticate, one shape of error."""

from ninja import NinjaAPI

from webapp.api import (
    alerts,
    artifacts,
    attach,
    autopsies,
    checks,
    errors,
    events,
    exports,
    imports,
    incidents,
    ledger,
    logs,
    me,
    metrics,
    nodes,
    notes,
    projects,
    provenance,
    reports,
    runs,
    share_links,
    sweeps,
    tokens,
    uploads,
)
from webapp.api.auth import AUTH

api = NinjaAPI(
    title="Paceline",
    version="1",
    urls_namespace="api",
    description=(
        "Launch, watch and stop training runs. Send a token as `Authorization: Bearer plt_…`. "
        'Every error is `{"code", "message", "fields"}`.'
    ),
    auth=AUTH,
)
errors.register(api)
for part in (runs, metrics, logs, ledger, events, provenance, artifacts):
    api.add_router("/runs", part.router)
api.add_router("/runs", notes.router)
api.add_router("/runs", share_links.router)
api.add_router("/runs", incidents.of_run)
api.add_router("/runs", autopsies.router)
api.add_router("/incidents", incidents.router)
api.add_router("/runs", exports.of_run)
api.add_router("/exports", exports.router)
api.add_router("/sweeps", sweeps.router)
api.add_router("/reports", reports.router)
api.add_router("/attach", attach.router)
api.add_router("/imports", imports.router)
api.add_router("/nodes", nodes.router)
api.add_router("/checks", checks.router)
api.add_router("/projects", projects.router)
api.add_router("/projects", alerts.router)
api.add_router("/projects", tokens.of_project)
api.add_router("/uploads", uploads.router)
api.add_router("/tokens", tokens.router)
api.add_router("/me", me.router)
