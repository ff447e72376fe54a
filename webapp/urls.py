"""All addresses, one include per app."""

from django.urls import include, path

from webapp.health import healthz

handler500 = "webapp.error_pages.server_error"
urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("", include("webapp.prometheus.urls")),
    path("", include("webapp.runs.urls")),
    path("", include("webapp.history.urls")),
    path("", include("webapp.provenance.urls")),
    path("", include("webapp.artifacts.urls")),
    path("", include("webapp.notes.urls")),
    path("", include("webapp.sharing.urls")),
    path("", include("webapp.live.urls")),
    path("", include("webapp.palette.urls")),
    path("accounts/", include("webapp.accounts.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("accounts/3rdparty/", include("allauth.socialaccount.urls")),
    path("accounts/", include("allauth.socialaccount.providers.openid_connect.urls")),
    path("accounts/", include("webapp.language.urls")),
    path("", include("webapp.invitations.urls")),
    path("", include("webapp.audit.urls")),
    path("projects/", include("webapp.projects.urls")),
    path("", include("webapp.alerts.urls")),
    path("", include("webapp.incidents.urls")),
    path("", include("webapp.sweeps.urls")),
    path("", include("webapp.exports.urls")),
    path("", include("webapp.compare.urls")),
    path("", include("webapp.reports.urls")),
    path("nodes/checks/", include("webapp.preflight.urls")),
    path("nodes/", include("webapp.nodes.urls")),
    path("agent/v1/checks/", include("webapp.preflight.agent_urls")),
    path("agent/v1/", include("webapp.nodes.agent_urls")),
    path("api/v1/", include("webapp.api.urls")),
]
