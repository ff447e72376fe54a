"""Gets code out of a git repository, with what a hostile URL could do switched off."""

import os
import re
import subprocess
from pathlib import Path

from trainer_agent.agent.errors import CannotPrepare

TIMEOUT = 600.0  # seconds
_URL = re.compile(r"(https?|ssh|git|file)://|[\w.-]+@[\w.-]+:")
_BAD_REF = re.compile(r"[\s~^:?*\[\\]|\.\.|^-")
# `ext::` and other transports run commands.
_PROTOCOLS = ["protocol.allow=never", *(f"protocol.{p}.allow=always" for p in ("http", "https", "ssh", "git", "file"))]
_OPTIONS = [part for option in [*_PROTOCOLS, "core.hooksPath=/dev/null"] for part in ("-c", option)]
_PASSED_ON = ("PATH", "HOME", "LANG", "SSH_AUTH_SOCK", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE")


def check_out(url: str, ref: str, folder: Path) -> None:
    """Clone into the empty folder and check out `ref` (default: the remote's own choice)."""
    if not _URL.match(url):
        raise CannotPrepare("git", f"{url} is no https, ssh, git or file URL.")
    if ref and _BAD_REF.search(ref):
        raise CannotPrepare("git", f"{ref} is no branch, tag or commit.")
    _git(["clone", "--no-checkout", "--quiet", "--", url, str(folder)], folder.parent)
    wanted = ref or "HEAD"
    for candidate in (f"refs/remotes/origin/{wanted}", f"refs/tags/{wanted}", wanted):
        found = _run(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{candidate}^{{commit}}"], folder)
        if found.returncode == 0:
            _git(["checkout", "--quiet", "--detach", found.stdout.decode().split()[0]], folder)
            return
    raise CannotPrepare("git", f"{url} has no branch, tag or commit named {wanted}.")


def environment() -> dict[str, str]:
    """What git sees of ours: no secret, no question to a person, no settings of the machine."""
    env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return env | {"GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": "ssh -oBatchMode=yes", "GIT_CONFIG_NOSYSTEM": "1"}


def _git(arguments: list[str], cwd: Path) -> None:
    done = _run(arguments, cwd)
    if done.returncode:
        raise CannotPrepare("git", done.stderr.decode("utf-8", "replace").strip()[-2000:])


def _run(arguments: list[str], cwd: Path) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", *_OPTIONS, *arguments],
            cwd=cwd,
            env=environment(),
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CannotPrepare("git", f"git {arguments[0]} took more than {TIMEOUT:.0f} s.") from error
    except OSError as error:
        raise CannotPrepare("git", f"git could not be started: {error}") from error
