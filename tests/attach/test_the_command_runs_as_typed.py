"""Whatever is wrong with Paceline: exit code, output, terminal and signals of the command stay its own."""

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from tests.attach.front import REPO, command, environment, run, start
from tests.waiting import until


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path)


def left_behind(tmp_path: Path) -> list[str]:
    return [path.name for path in tmp_path.iterdir() if path.name.startswith("paceline-attach")]


def test_without_a_server_the_command_keeps_its_output_and_exit_code(env, tmp_path):
    done = run(env, "sh", "-c", "echo out; echo err >&2; exit 7")

    assert done.returncode == 7
    assert done.stdout == "out\n"
    ours = [line for line in done.stderr.splitlines() if line != "err"]
    assert len(ours) == 1
    assert "cannot be reached" in ours[0]
    assert left_behind(tmp_path) == []


def test_without_a_login_too(env):
    del env["PACELINE_URL"]

    done = run(env, "sh", "-c", "exit 5")

    assert done.returncode == 5
    assert done.stderr.startswith("paceline: No server is known.")
    assert len(done.stderr.splitlines()) == 1


def test_death_by_a_signal_is_passed_up_as_such(env):
    assert run(env, "sh", "-c", "kill -KILL $$").returncode == -signal.SIGKILL


def test_a_program_that_is_not_there_is_told_as_a_shell_does(env):
    done = run(env, "no-such-program")

    assert done.returncode == 127
    assert "paceline: no-such-program: No such file or directory" in done.stderr


def test_outputs_that_go_to_one_place_keep_their_order(env):
    script = "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done"
    together = subprocess.check_output(
        command("sh", "-c", script), cwd=REPO, env=env, stderr=subprocess.STDOUT, timeout=90
    )

    printed = [word for word in together.decode().split() if len(word) == 2 and word[1].isdigit()]
    assert printed == [f"{which}{i}" for i in range(1, 10) for which in "oe"]


def test_a_reader_that_goes_away_ends_the_command_as_without_us(env):
    process = start(env, "yes")
    assert process.stdout is not None
    assert process.stdout.readline() == "y\n"
    process.stdout.close()

    process.wait(60)
    assert process.stderr is not None
    process.stderr.close()

    assert process.returncode == -signal.SIGPIPE


def test_a_terminal_stays_a_terminal_and_bytes_stay_bytes(env):
    main, side = pty.openpty()
    script = "import os; print(os.isatty(1), os.get_terminal_size(1).columns)"
    process = subprocess.Popen(
        command("python3", "-c", script), cwd=REPO, env=env, stdin=subprocess.DEVNULL, stdout=side, stderr=side
    )
    os.close(side)
    printed = b""
    while b"\n" not in printed:
        printed += os.read(main, 4096)
    process.wait(60)
    os.close(main)

    assert printed.startswith((b"True 0\r\n", b"True 80\r\n"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_reaches_the_command_once(env, number):
    name = number.name.removeprefix("SIG")
    script = (
        f"trap 'echo got {name}; n=1' {name}; echo ready; while [ -z \"$n\" ]; do sleep 0.05; done; sleep 0.3; exit 9"
    )
    process = start(env, "sh", "-c", script)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    process.send_signal(number)
    rest, _err = process.communicate(timeout=60)

    assert rest == f"got {name}\n"
    assert process.returncode == 9


def test_only_variables_are_added_and_arguments_arrive_as_they_are(env):
    plain = subprocess.run(["env"], env=env, capture_output=True, text=True, check=True).stdout.splitlines()

    watched = run(env, "env").stdout.splitlines()
    odd = run(env, "printf", "%s|", "a b", "--name", "$HOME", "").stdout

    added = {line.partition("=")[0] for line in set(watched) - set(plain)} - {"_", "SHLVL"}
    assert added == {"PYTHONPATH", "PACELINE_RING_DIR", "PACELINE_MARK", "PACELINE_AGENT_DIR"}
    assert odd == "a b|--name|$HOME||"


def test_a_killed_agent_is_no_concern_of_the_command(env):
    process = start(env, "sh", "-c", "echo ready; read x < /dev/null; sleep 1; echo done; exit 4")
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    agent = until(lambda: agents_of(process.pid))
    os.kill(agent[0], signal.SIGKILL)

    rest, _err = process.communicate(timeout=60)

    assert (rest, process.returncode) == ("done\n", 4)


def test_a_killed_front_leaves_neither_orphan_nor_file(env, tmp_path):
    process = start(env, "sh", "-c", "echo $$ $PACELINE_RING_DIR; exec sleep 1000")
    assert process.stdout is not None
    child, rings = process.stdout.readline().split()
    until(lambda: agents_of(process.pid))

    process.kill()
    process.communicate(timeout=60)

    until(lambda: not Path(f"/proc/{child}").exists(), 30)
    until(lambda: left_behind(tmp_path) == [] and not Path(rings).exists(), 30)
    assert left_behind(tmp_path) == []


def agents_of(front: int) -> list[int]:
    children = Path(f"/proc/{front}/task/{front}/children").read_text().split()
    return [int(pid) for pid in children if b"agent.attached" in Path(f"/proc/{pid}/cmdline").read_bytes()]
