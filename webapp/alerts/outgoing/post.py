"""One POST of JSON to an address that somebody typed: no redirects, no proxies, ten seconds in all."""

import ssl
from functools import cache

import httpcore
from django.utils.translation import gettext as _

from webapp.alerts.outgoing.address import PublicOnly, Refused
from webapp.alerts.outgoing.result import Result

_WORTH_A_RETRY = (408, 425, 429)


def post(url: str, body: bytes, headers: dict[str, str]) -> Result:
    """What came of it. It never raises for what the network does."""
    every = {"Content-Type": "application/json", "User-Agent": "Paceline"} | headers
    try:
        with (
            httpcore.ConnectionPool(network_backend=PublicOnly(), ssl_context=_trusted()) as pool,
            pool.stream("POST", url, content=body, headers=list(every.items())) as answer,
        ):
            return _judged(answer.status)
    except Refused as refused:
        return Result(ok=False, error=str(refused), hopeless=True)
    except httpcore.TimeoutException:
        return Result(ok=False, error=_("No answer within 10 seconds."))
    except (httpcore.UnsupportedProtocol, UnicodeError, ValueError) as error:
        return Result(ok=False, error=str(error) or type(error).__name__, hopeless=True)
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
        return Result(ok=False, error=str(error) or type(error).__name__)


def _judged(status: int) -> Result:
    if 200 <= status < 300:
        return Result(ok=True, status=status)
    if 300 <= status < 400:
        return Result(
            ok=False, status=status, error=_("It redirects; give the address that it leads to."), hopeless=True
        )
    hopeless = 400 <= status < 500 and status not in _WORTH_A_RETRY
    return Result(ok=False, status=status, error=_("It answered %s.") % status, hopeless=hopeless)


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()
