"""A rank is killed, the run is tried again from its checkpoint, and its steps go on where the script's do."""

import json
import os
import signal

import pytest

from benchmarks.product import REPO, Product, product, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.torch, pytest.mark.timeout(300)]
STEPS, SAVED_EVERY, STEP_S = 40, 10, 0.05


def test_steps_go_on_where_the_checkpoint_was():
    with product(nodes=1, slots=2) as made:
        run = made.paceline("submit", "--project", "demo", "--name", "goes on", "--nodes", "1", "--ranks-per-node", "2",
            "--retries", "1", "--", str(REPO / "examples" / "tiny_gpt.py"), "--steps", str(STEPS),
            "--step-ms", str(STEP_S * 1_000), "--checkpoint-every", str(SAVED_EVERY))  # fmt: skip
        wait_for(lambda: made.api("GET", f"runs/{run}")["steps"] > SAVED_EVERY + 5, 120, "steps behind a checkpoint")
        os.kill(rank_of(made, 0), signal.SIGKILL)
        wait_for(lambda: shown(made, run)[:2] == ("ended", 2), 120, "the end of the second attempt")
        assert shown(made, run) == ("ended", 2, "succeeded", STEPS)
        first, second = (steps_of(made, run, attempt) for attempt in (1, 2))
        assert first == list(range(len(first)))
        assert second[0] in range(SAVED_EVERY, len(first) + 1, SAVED_EVERY)
        assert second == list(range(second[0], STEPS))
        logged = made.api("GET", f"runs/{run}/metrics?name=loss&rank=1&attempt=2")["points"]
        assert [step for step, _loss in logged] == second
        ledger = made.api("GET", f"runs/{run}/ledger?attempt=2")
        assert ledger["ranks"]["1"] == {
            "made": len(second), "sent": len(second), "stored": len(second), "dropped": 0, "gaps": [],
        }  # fmt: skip
        parts = ("queued", "starting", "useful", "repeated", "waiting", "stalled", "idle")
        hours = ledger["hours"]
        assert sum(hours[part] for part in parts) == pytest.approx(hours["slots"] * hours["wall_s"], rel=0.02)
        assert hours["repeated"] == pytest.approx(time_of(made, run, since=second[0]), rel=0.1, abs=0.2)
        assert hours["useful"] + hours["waiting"] > 2 * 0.9 * STEP_S * STEPS


def shown(made: Product, run: str) -> tuple[str, int, str | None, int]:
    found = made.api("GET", f"runs/{run}")
    return found["status"], found["attempt"], found["outcome"], found["steps"]


def steps_of(made: Product, run: str, attempt: int) -> list[int]:
    points = made.api("GET", f"runs/{run}/metrics?name=phase/step&rank=1&attempt={attempt}")["points"]
    return [step for step, _seconds in points]


def time_of(made: Product, run: str, since: int) -> float:
    """Seconds that both ranks of the first attempt spent in steps that the second did again."""
    ranks = made.api("GET", f"runs/{run}/metrics?name=phase/step&attempt=1")["ranks"]
    return sum(float(seconds) for points in ranks.values() for step, seconds in points if step >= since)


def rank_of(made: Product, rank: int) -> int:
    """The process id that the node noted of a living rank."""
    started = next(made.home.rglob(f"rank{rank}.started.json"))
    return int(json.loads(started.read_text())["pid"])
