"""The HTTP API while it is being attacked: errors of the transport and of the server are waited out."""

import time
from typing import Any

import httpx

from benchmarks.product import TLS, Product

PATIENCE_S = 240.0
AGAIN_S = 0.5


class Gone(Exception):
    """No answer for PATIENCE_S."""


def ask(product: Product, method: str, path: str, **options: Any) -> httpx.Response:
    """The first answer that is the product's own: below 500. For calls that may be made twice."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        reply = ask_once(product, method, path, **options)
        if reply is not None:
            return reply
        time.sleep(AGAIN_S)
    raise Gone(f"{method} {path} was not answered for {PATIENCE_S:.0f} s")


def ask_once(product: Product, method: str, path: str, **options: Any) -> httpx.Response | None:
    """One try; None where there was no answer, or one that says to try again."""
    options = {"headers": {"Authorization": f"Bearer {product.token}"}, "timeout": 30, "verify": TLS, **options}
    try:
        reply = httpx.request(method, f"{product.url}/api/v1/{path}", **options)
    except httpx.HTTPError:
        return None
    return reply if reply.status_code < 500 else None


def run_named(product: Product, name: str) -> str:
    """The id of the run of that name, empty when there is none."""
    found = ask(product, "GET", "runs", params={"q": name, "limit": 20}).json()
    return next((str(run["id"]) for run in found if run["name"] == name), "")
