"""Which server, and as whom: from the environment, else from the saved login (mode 0600)."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from trainer_agent.cli.errors import Refused


@dataclass(frozen=True)
class Login:
    """A server's address without a slash at its end, and a bearer token."""

    url: str
    token: str


def current() -> Login:
    """`PACELINE_URL` and `PACELINE_TOKEN`, each falling back to the saved login."""
    saved = _saved()
    url = os.environ.get("PACELINE_URL") or saved.get("url", "")
    # A saved token belongs to its own server and is never sent to another one.
    fallback = saved.get("token", "") if url.rstrip("/") == saved.get("url") else ""
    token = os.environ.get("PACELINE_TOKEN") or fallback
    if not url:
        raise Refused("No server is known. Run “paceline login URL”, or set PACELINE_URL and PACELINE_TOKEN.")
    if not token:
        raise Refused(f"No token for {url}. Run “paceline login {url}”, or set PACELINE_TOKEN.")
    return Login(url.rstrip("/"), token)


def save(login: Login) -> Path:
    """Keep the login for the next command; only its owner may read the file."""
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({"url": login.url, "token": login.token}, file)
    fresh.replace(path)
    return path


def _path() -> Path:
    named = os.environ.get("PACELINE_CONFIG")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "paceline" / "login.json"


def _saved() -> dict[str, str]:
    path = _path()
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Refused(f"The saved login in {path} cannot be read ({error}). Run “paceline login URL” again.") from None
    return found if isinstance(found, dict) else {}
