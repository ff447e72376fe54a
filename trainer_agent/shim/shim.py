"""Holds one attempt's launcher on one node. Outlives the agent; its last act is exit.json. Linux, stdlib only.

    python -I shim.py ATTEMPT_DIR          starts what plan.json says, returns once shim.json is there
    python -I shim.py ATTEMPT_DIR clean    a shim vanished: ends its tree by the mark and writes exit.json in its place

plan.json (mode 0600, removed once read): {argv, env, cwd, mark, signal, grace, timeout}; times in seconds.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import math
import os
import signal
import sys
import time
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from trainer_agent.shim import cgroup, tree
from trainer_agent.shim.files import read_json, write_json, write_json_until
from trainer_agent.shim.ranks import Ranks
from trainer_agent.wire.whole_file import keep_room

PR_SET_CHILD_SUBREAPER = 36
LOOK_EVERY = 0.1  # seconds
LAUNCHER_ENDS = 3.0  # seconds that the launcher has after its last rank ended


def main(folder: str, task: str = "hold") -> int:
    """Entry of the script."""
    if task == "clean":
        return clean(folder)
    plan = read_json(f"{folder}/plan.json")
    if plan is None:
        sys.stderr.write(f"{folder}/plan.json cannot be read\n")
        return 2
    lock = os.open(f"{folder}/shim.lock", os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # kept as long as the shim lives
    except OSError:
        return 0  # an agent that died in between has started it already
    ready, tell = os.pipe()
    if os.fork():
        os.close(tell)
        return 0 if os.read(ready, 1) else 1
    os.setsid()
    os.close(ready)
    _detach(folder)
    Shim(folder, plan).hold(tell)
    os._exit(0)


def clean(folder: str) -> int:
    """End what a vanished shim left behind."""
    held = read_json(f"{folder}/shim.json") or {}
    rebooted = held.get("boot_id") not in (None, tree.boot_id())
    group = str(held.get("cgroup", ""))
    survivors = [] if rebooted else tree.end_tree(None, str(held.get("mark", "")), group)
    _write_exit(folder, None, survivors, "node_rebooted" if rebooted else "shim_lost", cgroup.oom_kills(group))
    cgroup.remove(group)
    return 0


class Shim:
    """One attempt's launcher, from its start to the proof that nothing of it is left."""

    def __init__(self, folder: str, plan: dict[str, Any]) -> None:
        self.folder = folder
        self.plan = plan
        self.ranks = Ranks(f"{folder}/ranks")
        self.launcher = 0
        self.launcher_status: int | None = None
        self.group = ""
        self.told_to_end = False
        self.stop: dict[str, Any] | None = None
        self.stop_began = 0.0

    def hold(self, tell: int) -> None:
        """Start the launcher, wait for its end or an order to stop, leave nothing alive."""
        _become_subreaper()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        signal.signal(signal.SIGTERM, self._on_sigterm)
        for ignored in (signal.SIGINT, signal.SIGHUP):
            signal.signal(ignored, signal.SIG_IGN)
        me = tree.look_up(os.getpid())
        assert me is not None
        self.group = cgroup.create(self.plan["mark"])
        identity = {"pid": me.pid, "start_time": me.start_time, "boot_id": tree.boot_id(), "mark": self.plan["mark"]}
        identity["cgroup"] = self.group
        for name in ("shim.json", "exit.json"):
            keep_room(f"{self.folder}/{name}")
        write_json(f"{self.folder}/shim.json", identity)
        began = time.monotonic()
        self.launcher = self._start_launcher()
        write_json(f"{self.folder}/shim.json", {**identity, "launcher": self.launcher})
        os.unlink(f"{self.folder}/plan.json")
        try:
            os.write(tell, b"1")
        except OSError:  # it took so long that the agent has given the launch up
            self.told_to_end = True
        os.close(tell)
        self._watch(began)
        if self.launcher_status is None:
            self.ranks.kill_all()
        survivors = tree.end_tree(os.getpid(), self.plan["mark"], self.group)
        self._reap()
        reason = self.stop.get("reason") or "stopped" if self.stop else "exited"
        _write_exit(self.folder, self.launcher_status, survivors, reason, cgroup.oom_kills(self.group))
        cgroup.remove(self.group)

    def _watch(self, began: float) -> None:
        """Returns when the launcher has ended, or when it is time to end what is left by force."""
        while True:
            signal.sigtimedwait({signal.SIGCHLD}, LOOK_EVERY)
            self._reap()
            self._look_for_stop(began)  # also when the launcher has ended: a signal to all of us is told as one
            if self.launcher_status is not None:
                return
            if self.stop is not None and self._stop_is_over(self.stop):
                return

    def _look_for_stop(self, began: float) -> None:
        limit = self.plan.get("timeout")
        order = f"{self.folder}/stop.json"
        own = None
        if self.stop is None and not os.path.exists(order):
            if limit is not None and time.monotonic() - began > limit:
                own = self._own_order("limit")
            elif self.told_to_end:
                own = self._own_order("shim_signalled")
        if own is not None:
            with contextlib.suppress(OSError):  # it stands without the file, too
                write_json(order, own)
        asked = read_json(order) or own  # read again and again: a second order may shorten the grace period
        if asked is None:
            return
        if self.stop is None:
            self.stop_began = time.monotonic()
        self.stop = asked

    def _stop_is_over(self, stop: dict[str, Any]) -> bool:
        """Signal ranks that are not signalled yet. True when the grace period or the last rank has ended."""
        number = getattr(signal, str(stop.get("signal")), signal.SIGTERM)
        living = self.ranks.signal_all(number)
        if time.monotonic() - self.stop_began > float(stop.get("grace", 0)):
            return True
        if living:
            return False
        self._wait_for_launcher()
        return True

    def _wait_for_launcher(self) -> None:
        """Its ranks are gone. Where none ever started there is nothing to wait for."""
        deadline = time.monotonic() + (LAUNCHER_ENDS if self.ranks.any_started() else 0)
        while self.launcher_status is None and time.monotonic() < deadline:
            signal.sigtimedwait({signal.SIGCHLD}, LOOK_EVERY)
            self._reap()

    def _own_order(self, reason: str) -> dict[str, Any]:
        return {"signal": self.plan["signal"], "grace": self.plan["grace"], "reason": reason}

    def _on_sigterm(self, *_: object) -> None:
        self.told_to_end = True

    def _reap(self) -> None:
        status = tree.reap().get(self.launcher)
        if status is not None:
            self.launcher_status = status

    def _start_launcher(self) -> int:
        log = os.open(f"{self.folder}/launcher.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        pid = os.fork()
        if pid:
            os.close(log)
            return pid
        try:
            os.setsid()
            cgroup.enter(self.group)
            for fd in (1, 2):
                os.dup2(log, fd)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            os.chdir(self.plan["cwd"])
            os.execvpe(self.plan["argv"][0], self.plan["argv"], self.plan["env"])  # noqa: S606  (no shell is the point)
        except OSError as error:
            os.write(2, f"{self.plan['argv'][0]} could not be started: {error}\n".encode())
        finally:
            os._exit(127)


def _write_exit(folder: str, status: int | None, survivors: list[tree.Process], reason: str, oom_kills: int) -> None:
    signalled = status is not None and os.WIFSIGNALED(status)
    exited = status is not None and os.WIFEXITED(status)
    content = {
        "launcher_code": os.WEXITSTATUS(status) if exited and status is not None else None,
        "launcher_signal": os.WTERMSIG(status) if signalled and status is not None else None,
        "survivors": [{"pid": p.pid, "name": p.name, "state": p.state, "start_time": p.start_time} for p in survivors],
        "reason": reason,
        "oom_kills": oom_kills,
        "at": time.time(),
    }
    write_json_until(f"{folder}/exit.json", content, math.inf)


def _become_subreaper() -> None:
    """Orphans of this attempt come to this process instead of to init."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _detach(folder: str) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    log = os.open(f"{folder}/shim.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
