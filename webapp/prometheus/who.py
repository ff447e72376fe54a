"""Who may read `/metrics`, and of which projects."""

from ipaddress import ip_address

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest

from webapp.api.auth import BearerToken
from webapp.audit.log import client_address
from webapp.projects.access import visible
from webapp.projects.models import Project


def projects_of(request: HttpRequest) -> QuerySet[Project] | None:
    """None: neither a token nor an address that may. ApiError for a token that may not."""
    user = BearerToken()(request)
    if user is not None:
        return visible(Project.objects.all(), user, "pk")
    return Project.objects.all() if _is_open_to(client_address(request)) else None


def _is_open_to(address: str) -> bool:
    try:
        asking = ip_address(address)
    except ValueError:
        return False
    return any(asking in network for network in settings.METRICS_OPEN_TO)
