"""The agent of one launch that somebody else's scheduler made: `python -m trainer_agent.agent.attached FOLDER`.

Started by trainer_agent/shim/attach.py beside the command, it may fail, wait or be killed: the command goes on. It
speaks to the person in single lines on standard error. Exit code 0: the server has all of it.
"""

import contextlib
import logging
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from trainer_agent.agent import inventory, procs
from trainer_agent.agent.attach_call import AttachCall, Watched
from trainer_agent.agent.attached_daemon import AttachedDaemon, AttachedPlaces
from trainer_agent.agent.files import read_json
from trainer_agent.agent.gpu import Gpus
from trainer_agent.agent.identity import Identity
from trainer_agent.wire.messages import WIRE_VERSION, Inventory, StartAttempt

log = logging.getLogger(__name__)

NICE = 5  # below the command
LOOK_EVERY = 0.1  # seconds
FIRST_CALL = 5.0  # seconds after the command's end for a first call that is still under way
TOLD, NOT_TOLD = 0, 3


def main(folder: Path) -> int:
    """Attach, then watch until the command has ended and the server knows it."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", filename=folder / "agent.log"
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)
    with contextlib.suppress(OSError):
        os.nice(NICE)
    plan = read_json(folder / "plan.json")
    (folder / "plan.json").unlink(missing_ok=True)  # it held the person's token
    if plan is None:
        say("The plan of this launch cannot be read; the command runs unwatched.")
        return NOT_TOLD
    found = inventory.take(python=plan["python"], cpu_slots=None, server_url=plan["url"], gpus=Gpus())
    watched = _attach(folder, plan, found)
    code = NOT_TOLD if watched is None else _watch(folder, plan, found, watched)
    if _front_is_gone(folder):  # killed: else it removes these itself
        for path in (folder, Path(plan["rings"])):
            shutil.rmtree(path, ignore_errors=True)
    return code


def say(line: str) -> None:
    """One line to the person at the terminal."""
    with contextlib.suppress(OSError):
        os.write(2, f"paceline: {line}\n".encode("utf-8", "replace"))


def _attach(folder: Path, plan: dict[str, Any], found: Inventory) -> Watched | None:
    call = AttachCall(plan["url"], plan["token"], {**plan["call"], "inventory": msgspec.to_builtins(found)}, say)
    call.start()
    over_at: float | None = None
    while call.answer is None and not call.refusal:
        call.join(LOOK_EVERY)
        if over_at is None and _is_over(folder):
            over_at = time.monotonic()
        if over_at is not None and (call.failures or time.monotonic() - over_at > FIRST_CALL):
            break
    return call.answer


def _is_over(folder: Path) -> bool:
    """The command has ended, or whoever held it was killed."""
    return _front_is_gone(folder) or (folder / "exit.json").exists()


def _front_is_gone(folder: Path) -> bool:
    front = read_json(folder / "shim.json")
    return front is not None and not procs.is_alive(int(front["pid"]), int(front["start_time"]))


def _watch(folder: Path, plan: dict[str, Any], found: Inventory, watched: Watched) -> int:
    say(f"This launch is run {watched.run}, attempt {watched.attempt_number}: {watched.url}")
    identity = Identity(
        node=watched.node,
        name=watched.node_name,
        token=watched.token,
        redis_url=watched.redis_url,
        url=plan["url"],
        python="",
    )
    places = AttachedPlaces(folder, watched.node, Path(plan["rings"]))
    daemon = AttachedDaemon(
        places, identity, found, _as_started(plan, watched), slots=plan["gpus"], python=plan["python"]
    )
    daemon.run()
    if not daemon.told:
        say(f"The server has not confirmed the end of run {watched.run}; its last data may be missing there.")
    return TOLD if daemon.told else NOT_TOLD


def _as_started(plan: dict[str, Any], watched: Watched) -> StartAttempt:
    """What our own nodes are sent; here it only describes the launch."""
    call = plan["call"]
    return StartAttempt(
        v=WIRE_VERSION,
        id=0,
        attempt=watched.attempt,
        run=watched.run,
        attempt_number=watched.attempt_number,
        node_rank=watched.node_rank,
        nnodes=call["nodes"],
        ranks_per_node=call["ranks_per_node"],
        master_addr="127.0.0.1" if call["nodes"] == 1 else "",
        master_port=0,
        argv=call["argv"],
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
