"""Long runs with everything that happens to them, held against a plain dictionary of what the nodes said."""

import random
from collections import defaultdict

import numpy as np
import pytest

from tests.ingest.node import FakeNode, turn
from tests.telemetry.batches import samples, values
from trainer_agent.wire.messages import StepColumns
from trainer_agent.wire.record import MISSING_US
from webapp.telemetry import read
from webapp.telemetry.merge import FACTOR
from webapp.telemetry.models import Segment, Tail
from workers.ingest import young
from workers.ingest.loop import Ingest

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 70
KEYS = 44  # more than the rows of the newest steps hold
TIMERS = ("phase/step", "phase/forward", "phase/exposed_comm")
Known = dict[str, dict[int, dict[int, float]]]  # metric -> rank -> index -> value


class Told:
    """One node: it goes on at its own pace, is cut off for a while, and says some steps twice."""

    def __init__(self, node: FakeNode, ranks: list[int], random_: random.Random, known: Known) -> None:
        self.node, self.ranks, self.random, self.known = node, ranks, random_, known
        self.step, self.cut_off = 0, 0

    def go_on(self) -> None:
        if self.random.random() < 0.08:
            self.cut_off = self.random.randint(1, 12)
        first = max(0, self.step - self.random.choice([0, 0, 0, 3, 40]))
        self.step += self.random.choice([1, 5, 17, 64, 200])
        numbers = np.arange(first, self.step)
        key = f"key{self.random.randrange(KEYS)}"
        logged = {int(k): self.random.random() for k in numbers[:: self.random.choice([1, 7])]}
        seconds = {1_000 + int(k): self.random.random() for k in numbers[::9]}
        rank = self.ranks[0]
        self._note(key, rank, logged)
        self._note("rank/cpu", rank, seconds)
        self.node.make(
            steps=[self._records(numbers)],
            values=[values(key, rank, logged)],
            samples=[samples("rank/cpu", rank, seconds)],
        )
        self.cut_off = max(0, self.cut_off - 1)
        if not self.cut_off:
            self.node.send()

    def _records(self, numbers: np.ndarray) -> StepColumns:
        step, rank = (a.ravel() for a in np.meshgrid(numbers, self.ranks, indexing="ij"))
        columns = {}
        for name in TIMERS:
            us = np.array([self.random.randrange(1, 2**31) for _ in step], dtype="<u4")
            us[[self.random.random() < 0.02 for _ in step]] = MISSING_US
            for s, r, value in zip(step.tolist(), rank.tolist(), us.tolist(), strict=True):
                if value != MISSING_US:
                    self.known[name][r][s] = value / 1e6
            columns[name] = us.tobytes()
        end = 1e9 + step * 0.5
        for s, r, at in zip(step.tolist(), rank.tolist(), end.tolist(), strict=True):
            self.known["step/end"][r][s] = at
        return StepColumns(
            n=step.size,
            rank=rank.astype("<u4").tobytes(),
            step=step.astype("<i8").tobytes(),
            end=end.astype("<f8").tobytes(),
            columns=columns,
        )

    def _note(self, name: str, rank: int, points: dict[int, float]) -> None:
        self.known[name][rank].update(points)


def all_read(ingest: Ingest, told: list[Told]) -> None:
    for _k in range(200):
        turn(ingest, 1)
        if all(one.node.left == 0 for one in told):
            return
    raise AssertionError("the streams are not empty")


def assert_stored(attempt, known: Known) -> None:
    for name, ranks in known.items():
        found = read.series(attempt, name)
        there = {
            rank: {
                i: v
                for i, v, p in zip(found.index.tolist(), found.values[:, k].tolist(), found.present[:, k], strict=True)
                if p
            }
            for k, rank in enumerate(found.columns)
        }
        assert {rank: points for rank, points in there.items() if points} == dict(ranks), name
        for max_rows in (200, 20):
            assert_rolled_up(read.series(attempt, name, max_rows=max_rows), ranks)


def assert_rolled_up(found: read.Series, ranks: dict[int, dict[int, float]]) -> None:
    width = FACTOR**found.level
    for k, rank in enumerate(found.columns):
        cells = defaultdict(list)
        for index, value in ranks.get(rank, {}).items():
            cells[index // width * width].append(value)
        rows = found.present[:, k]
        assert found.index[rows].tolist() == sorted(cells)
        expected = [cells[index] for index in sorted(cells)]
        np.testing.assert_array_equal(found.mins[rows, k], [min(cell) for cell in expected])
        np.testing.assert_array_equal(found.maxs[rows, k], [max(cell) for cell in expected])
        np.testing.assert_allclose(found.values[rows, k], [np.mean(cell) for cell in expected], rtol=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_what_the_nodes_said_is_what_is_stored_at_every_level(attempt, nodes, ingest, monkeypatch, seed):
    random_ = random.Random(seed)
    known: Known = defaultdict(lambda: defaultdict(dict))
    told = [Told(node, ranks, random_, known) for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True)]
    monkeypatch.setattr(young, "MOST_POINTS", 6_000)
    ended = []
    for k in range(ROUNDS):
        for one in told:
            one.go_on()
        monkeypatch.setattr(young, "OLDEST_S", random_.choice([1e9] * 7 + [-1e9]))
        turn(ingest, 1)
        if random_.random() < 0.06:  # killed, and another one goes on
            ended.append(ingest)
            type(attempt).objects.update(lease_until=None, lease_holder="")
            ingest = Ingest()
            turn(ingest, 1)
        if k in {25, 50}:
            for one in told:
                one.node.send()
            all_read(ingest, told)
            assert_stored(attempt, known)
    for one in told:
        one.node.send()
    all_read(ingest, told)
    assert Segment.objects.filter(level=2).exists()
    assert_stored(attempt, known)
    monkeypatch.setattr(young, "OLDEST_S", -1e9)
    turn(ingest)
    assert not Tail.objects.exists()
    assert_stored(attempt, known)
    for one in [*ended, ingest]:
        one._client.close()
