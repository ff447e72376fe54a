"""What a page may load: only what this server serves, and no script that stands in the page itself."""

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

# Plotly sets style attributes and style sheets of its own; images are also made in the browser.
_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)


class ContentPolicy(MiddlewareMixin):
    """`Content-Security-Policy` on every answer. With single sign-on a form may lead on to its provider."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.setdefault("Content-Security-Policy", _POLICY + (" https:" if settings.OIDC_ISSUER else ""))
        return response
