"""Chart numbers as a JSON answer: written many times faster than `json` does, and packed when they are many."""

import gzip

import msgspec
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

_PACK_FROM = 16 * 1024  # bytes
_LEVEL = 1  # digits pack well at any
_encoder = msgspec.json.Encoder(enc_hook=DjangoJSONEncoder().default)


def encoded(answer: object) -> bytes:
    """The answer as JSON."""
    return _encoder.encode(answer)


def numbers_json(request: HttpRequest, answer: object) -> HttpResponse:
    """The answer to a browser, or to whoever else asks. It must hold no secret: packing tells how much repeats."""
    body = encoded(answer)
    response = HttpResponse(content_type="application/json")
    patch_vary_headers(response, ["Accept-Encoding"])
    if len(body) >= _PACK_FROM and "gzip" in request.headers.get("Accept-Encoding", ""):
        body = gzip.compress(body, _LEVEL, mtime=0)
        response["Content-Encoding"] = "gzip"
    response.content = body
    return response
