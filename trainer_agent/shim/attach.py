"""Runs one command in the foreground as if nobody watched, with an agent beside it that does. Linux, stdlib only.

    python -I -S attach.py FOLDER ARGV…

The command gets this process's terminal, input, signals and environment (plus the probe's), and its end is ours.
FOLDER gets what the agent reads: shim.json, launcher.log, exit.json; the agent writes stop.json when a person stops
the run. Whatever happens to the agent, to the server or to FOLDER, the command goes on.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, NoReturn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from trainer_agent.shim import tree
from trainer_agent.shim.files import read_json, write_json
from trainer_agent.shim.outputs import Outputs
from trainer_agent.shim.rank_entry import end_like
from trainer_agent.wire import environment

PACKAGE_HOME = sys.path[0]
INJECT = f"{PACKAGE_HOME}/trainer_agent/inject"
PR_SET_PDEATHSIG = 1
FROM_KERNEL = 128  # si_code of a signal that the terminal made, for the whole foreground group
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
LOOK_EVERY = 0.2  # seconds
AGENT_ENDS = 15.0  # seconds after the command's end that the agent has to tell the rest
CANNOT_RUN, NOT_FOUND = 126, 127  # as a shell says it


def main(folder: str, argv: list[str]) -> NoReturn:
    """Run the command, then end as it did."""
    front = Front(folder, argv)
    status = front.hold()
    front.let_the_agent_finish()
    end_like(status)


class Front:
    """The command, its output on both ways, and the agent beside it."""

    def __init__(self, folder: str, argv: list[str]) -> None:
        self.folder = folder
        self.argv = argv
        plan = read_json(f"{folder}/plan.json") or {}
        self.mark, self.rings = str(plan.get("mark", folder)), str(plan.get("rings", f"{folder}/rings"))
        self.outputs = Outputs(f"{folder}/launcher.log")
        self.command = 0
        self.status: int | None = None
        self.agent: subprocess.Popen[bytes] | None = None
        self.own_group = _without_terminal()
        self.signalled = False
        self.stop: dict[str, Any] | None = None
        self.kill_at = 0.0

    def hold(self) -> int:
        """Start the command, be there for it, write down its end. Returns its wait status."""
        # What was ignored when we began (nohup) stays ignored, for the command too.
        wanted = {n for n in (*PASSED_ON, signal.SIGCHLD, signal.SIGWINCH) if signal.getsignal(n) != signal.SIG_IGN}
        before = set(signal.pthread_sigmask(signal.SIG_BLOCK, wanted))
        self._start_command(before)
        self.outputs.start()
        self._start_agent()
        while self.status is None:
            self._on_signal(signal.sigtimedwait(wanted, LOOK_EVERY))
            self._look_for_stop()
            self._reap()
        self.outputs.finish()
        self._write_exit(self.status)
        return self.status

    def let_the_agent_finish(self) -> None:
        """It has the rest to tell; a signal means that nobody wants to wait. Nothing of us stays on this machine."""
        if self.agent is not None:
            deadline = time.monotonic() + AGENT_ENDS
            while self.agent.poll() is None and time.monotonic() < deadline:
                if signal.sigtimedwait(ENDING, LOOK_EVERY / 4):
                    break
            if self.agent.poll() is None:
                self.agent.kill()
                self.agent.wait()
        for folder in (self.folder, self.rings):
            shutil.rmtree(folder, ignore_errors=True)

    def _start_command(self, mask: set[int | signal.Signals]) -> None:
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(self.rings), mode=0o1777, exist_ok=True)
            os.makedirs(self.rings, mode=0o700, exist_ok=True)
        env = {**os.environ, **self._added()}
        libc, parent = ctypes.CDLL(None), os.getpid()
        self.command = os.fork()
        if not self.command:
            self._become_the_command(env, libc, parent, mask)
        self.outputs.started()
        with contextlib.suppress(OSError):
            me = tree.look_up(parent)
            held = {"pid": parent, "start_time": me.start_time if me else 0, "boot_id": tree.boot_id()}
            write_json(f"{self.folder}/shim.json", {**held, "mark": self.mark, "launcher": self.command})

    def _become_the_command(
        self, env: dict[str, str], libc: ctypes.CDLL, parent: int, mask: set[int | signal.Signals]
    ) -> NoReturn:
        code = CANNOT_RUN
        try:
            if self.own_group:
                os.setpgid(0, 0)
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)  # killed alone, we leave no orphan that holds GPUs
            self.outputs.become()
            for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(ignored_by_python, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            if os.getppid() == parent:
                os.execvpe(self.argv[0], self.argv, env)  # noqa: S606  (no shell is the point)
        except OSError as error:
            code = NOT_FOUND if isinstance(error, FileNotFoundError) else CANNOT_RUN
            os.write(2, f"paceline: {self.argv[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        finally:
            os._exit(code)

    def _added(self) -> dict[str, str]:
        return {
            "PYTHONPATH": os.pathsep.join(filter(None, (INJECT, os.environ.get("PYTHONPATH", "")))),
            environment.RING_DIR: self.rings,
            environment.MARK: self.mark,
            environment.HOME_OF_AGENT: PACKAGE_HOME,
        }

    def _start_agent(self) -> None:
        command = [sys.executable, "-P", "-m", "trainer_agent.agent.attached", self.folder]
        env = {**os.environ, "PYTHONPATH": PACKAGE_HOME}
        try:
            self.agent = subprocess.Popen(
                command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:
            sys.stderr.write(f"paceline: the agent cannot be started ({error}); the command runs without it.\n")

    def _on_signal(self, got: signal.struct_siginfo | None) -> None:
        if got is None or got.si_signo == signal.SIGCHLD:
            return
        if got.si_signo == signal.SIGWINCH:
            self.outputs.resize()
            return
        self.signalled |= got.si_signo in ENDING
        if self.own_group or got.si_code != FROM_KERNEL:  # else the terminal has told the command as well
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.command, got.si_signo)

    def _look_for_stop(self) -> None:
        order = read_json(f"{self.folder}/stop.json")
        if order is None:
            return
        if self.stop is None:
            self.kill_at = time.monotonic() + float(order.get("grace", 0))
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.command, getattr(signal, str(order.get("signal")), signal.SIGTERM))
        self.stop = order
        if time.monotonic() > self.kill_at:
            self._kill_when_time_is_over(tree.members(None, self.mark))

    def _kill_when_time_is_over(self, alive: list[tree.Process]) -> None:
        for process in alive if time.monotonic() > self.kill_at else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)

    def _reap(self) -> None:
        pid, status = os.waitpid(self.command, os.WNOHANG)
        if pid:
            self.status = status

    def _write_exit(self, status: int) -> None:
        signalled = os.WIFSIGNALED(status)
        reason = "exited"
        if self.stop is not None:
            reason = str(self.stop.get("reason") or "stopped")
        elif self.signalled:
            reason = "shim_signalled"
        content = {
            "launcher_code": None if signalled else os.WEXITSTATUS(status),
            "launcher_signal": os.WTERMSIG(status) if signalled else None,
            "survivors": self._left() if self.stop is not None else [],
            "reason": reason,
            "at": time.time(),
        }
        with contextlib.suppress(OSError):
            write_json(f"{self.folder}/exit.json", content)

    def _left(self) -> list[dict[str, Any]]:
        """After a stop nothing may be left: wait for it, end it, name what cannot be ended."""
        while (alive := tree.members(None, self.mark)) and time.monotonic() < self.kill_at + tree.PATIENCE:
            self._kill_when_time_is_over(alive)
            time.sleep(tree.LOOK_EVERY)
        return [{"pid": p.pid, "name": p.name, "state": p.state} for p in alive]


def _without_terminal() -> bool:
    """No terminal sends signals to our group: then the command gets a group of its own, and each signal once, by us."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return True
    return False


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
