"""Addresses of the HTTP API; what no router knows is answered as JSON too."""

from typing import Any

from django.urls import URLPattern, URLResolver, include, path, re_path

from webapp.api.api import api
from webapp.api.errors import json_when_http_is_wrong, unknown_path


def _addresses() -> list[URLPattern | URLResolver]:
    known, app, namespace = api.urls
    for pattern in known:
        if isinstance(pattern, URLPattern):
            pattern.callback = json_when_http_is_wrong(pattern.callback)
    included: Any = (known, app)
    return [path("", include(included, namespace=namespace)), re_path(r"^.*$", unknown_path)]


urlpatterns = _addresses()
