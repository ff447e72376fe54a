"""Gets a node ready for a launch: code in place, script there, port free. Anything missing is a CannotPrepare."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from trainer_agent.agent import git, port, upload
from trainer_agent.agent.errors import CannotPrepare
from trainer_agent.agent.identity import Identity
from trainer_agent.wire.messages import StartAttempt


def prepare(start: StartAttempt, identity: Identity, folder: Path) -> Path:
    """Returns the folder in which the run is started."""
    if shutil.which(identity.python) is None:
        raise CannotPrepare("spawn", f"The Python interpreter {identity.python} does not exist on this node.")
    work = run_folder(start, identity, folder)
    require_script(start.argv, work, {**os.environ, **start.env})
    if start.node_rank == 0:
        port.require_free(start.master_port)
    return work


def run_folder(start: StartAttempt, identity: Identity, folder: Path) -> Path:
    """The person's own folder, or work/ with the code that was asked for."""
    if start.workdir:
        workdir = Path(start.workdir)
        if not os.path.isdir(workdir):  # False too where it cannot be looked at
            raise CannotPrepare("no_workdir", f"The folder {workdir} does not exist on this node.")
        if not os.access(workdir, os.R_OK | os.X_OK):
            raise CannotPrepare("no_workdir", f"The agent may not read the folder {workdir}.")
        return workdir
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if start.git_url:
        git.check_out(start.git_url, start.git_ref, work)
    elif start.upload_sha256:
        upload.unpack(identity.url, identity.token, start.upload_sha256, work)
    return work


def require_script(argv: list[str], work: Path, env: Mapping[str, str]) -> None:
    """The script or program that the ranks will start must be there now, while a person still looks."""
    script = script_of(argv)
    if script is None:
        return
    if script.endswith(".py"):
        if not os.path.isfile(work / script):
            raise CannotPrepare("no_script", f"The script {os.path.normpath(work / script)} does not exist.")
        return
    beside = os.path.isfile(work / script) and "/" in script
    if not beside and shutil.which(script, path=env.get("PATH")) is None:
        raise CannotPrepare("no_script", f"The program {script} was not found.")


def script_of(argv: list[str]) -> str | None:
    """The file that has to exist: see rank_entry.py for how an argv is read. None where there is none to look for."""
    first, *rest = argv
    if first == "-m":
        return None
    if first in ("python", "python3"):
        if not rest or rest[0] in ("-m", "-c"):
            return None
        return next((part for part in rest if part.endswith(".py")), None)
    return first
