"""Which rank is named, and by which word."""

import signal
from datetime import UTC, datetime, timedelta

import pytest

from webapp.runs.first_failure import Exit, culprit, explain
from webapp.runs.rank_reasons import complaint, last_line

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PEER = "Traceback …\nRuntimeError: [../gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:4711"


def exit_(rank: int, seconds: float, code: int | None = 1, signal: int | None = None, traceback: str = "") -> Exit:
    at = NOON + timedelta(seconds=seconds)
    return Exit(rank=rank, node="a", code=None if signal else code, signal=signal, at=at, traceback=traceback)


@pytest.mark.parametrize(
    ("exits", "named"),
    [
        ([exit_(0, 1, traceback="ValueError: x"), exit_(1, 2, traceback="ValueError: y")], 0),
        ([exit_(0, 1, code=0), exit_(1, 2)], 1),
        ([exit_(0, 1, signal=signal.SIGTERM), exit_(1, 2, traceback="ValueError: x")], 1),
        ([exit_(0, 1, traceback=PEER), exit_(1, 1.2, signal=signal.SIGKILL)], 1),
        ([exit_(0, 1, signal=signal.SIGABRT), exit_(1, 1.1, traceback="KeyError: 'a'")], 1),
        ([exit_(0, 2, signal=signal.SIGKILL), exit_(1, 3, traceback="ValueError: x")], 0),
        ([exit_(3, 1, traceback=PEER), exit_(2, 1.5, traceback=PEER)], 3),
        ([exit_(1, 1), exit_(0, 1)], 0),
    ],
)
def test_the_one_that_failed_on_its_own_is_named(exits, named):
    found = culprit(exits)
    assert found is not None
    assert found.rank == named


def test_nobody_is_named_when_nobody_failed():
    assert culprit([exit_(0, 1, code=0)]) is None


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (exit_(0, 1, traceback="  File 'x'\nSyntaxError: invalid syntax"), "syntax_error"),
        (exit_(0, 1, traceback="Traceback\nModuleNotFoundError: No module named 'x'"), "import_error"),
        (exit_(2, 1, traceback="[rank2]: Traceback\n[rank2]: ImportError: no x"), "import_error"),
        (exit_(0, 1, traceback="Traceback\ntorch.OutOfMemoryError: CUDA out of memory."), "out_of_memory"),
        (
            exit_(0, 1, traceback="DistNetworkError: port: 29500, code: -98, name: EADDRINUSE"),
            "port_in_use",
        ),
        (exit_(0, 1, traceback="Traceback\nValueError: SyntaxError is only a word here"), "rank_exit"),
        (exit_(0, 1, signal=signal.SIGSEGV), "killed_by_signal"),
        (Exit(0, "a", None, 9, NOON, oom=True), "oom_killed"),
        (exit_(0, 1, code=3), "rank_exit"),
    ],
)
def test_the_reason_is_a_fixed_word(found, word):
    assert explain(found).reason == word
    assert explain(found).cause == "code"


def test_the_last_line_that_says_something_is_kept_short():
    assert last_line("a\n  b  \n\n") == "b"
    assert last_line("[rank2]: ValueError: x") == "ValueError: x"
    assert last_line("") == ""
    assert len(last_line("x" * 10_000)) == 300


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("step=37 loss=3.1832 lr=0.001", ""),
        ("rank 1", ""),
        ("The script /a/train.py does not exist on this node.", "The script /a/train.py does not exist on this node."),
        ("Traceback (most recent call last):\n  x\nOdd: 7\nbye", "Odd: 7"),
        ("RuntimeError: CUDA error", "RuntimeError: CUDA error"),
    ],
)
def test_the_last_word_is_quoted_only_if_it_says_what_went_wrong(said: str, kept: str) -> None:
    assert complaint(said) == kept
