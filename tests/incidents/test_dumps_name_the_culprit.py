import pytest

from tests.incidents.dumps import case, dump, entry
from webapp.incidents.flight_recorder.reading import read
from webapp.incidents.flight_recorder.verdict import examine


@pytest.mark.parametrize(
    ("name", "kind", "ranks"), [("gpu_error_1st", "device", (12, 14)), ("lock_gil_1st", "host", (9, 14))]
)
def test_recorded_hangs_of_known_cause_are_named_exactly(name: str, kind: str, ranks: tuple[int, ...]) -> None:
    verdict = examine(read(*file) for file in case(name).items())
    assert (verdict.kind, verdict.ranks, verdict.absent) == (kind, ranks, ())
    assert {lag.rank for lag in verdict.lags} == set(ranks)


def test_a_rank_that_did_not_call_is_a_host_and_not_a_device() -> None:
    late = dump(1, enqueued=5, completed=5)
    verdict = examine([dump(0, enqueued=6, completed=5), late])
    assert (verdict.kind, verdict.ranks) == ("host", (1,))
    assert (verdict.lags[0].at, verdict.lags[0].peers) == (5, 6)


def test_a_rank_that_has_called_but_not_completed_is_a_device() -> None:
    verdict = examine([dump(0, enqueued=7, completed=6), dump(1, enqueued=7, completed=5)])
    assert (verdict.kind, verdict.ranks) == ("device", (1,))


@pytest.mark.parametrize("other", [entry(4, "nccl:broadcast"), entry(4, size=11)])
def test_one_that_calls_something_else_under_the_same_number_is_named_with_its_line(other: dict) -> None:
    usual = [dump(rank, enqueued=4, completed=3, entries=[entry(4)], world=3) for rank in (0, 2)]
    verdict = examine([*usual, dump(1, enqueued=4, completed=3, entries=[other], world=3)])
    assert (verdict.kind, verdict.ranks, verdict.seq, verdict.group) == ("call", (1,), 4, "default_pg")
    assert {call.ranks for call in verdict.calls} == {(0, 2), (1,)}
    assert verdict.calls[0].frame is not None
    assert verdict.calls[0].frame.line == 12


def test_two_that_differ_are_both_shown_and_neither_is_blamed() -> None:
    verdict = examine(dump(rank, enqueued=4, completed=3, entries=[entry(4, size=10 + rank)]) for rank in (0, 1))
    assert (verdict.kind, verdict.ranks) == ("call", ())
    assert len(verdict.calls) == 2


def test_uneven_parts_of_an_all_to_all_are_no_mismatch() -> None:
    parts = [entry(4, "nccl:all_to_all", size=rank) for rank in (0, 1)]
    assert examine(dump(r, enqueued=4, completed=4, entries=[parts[r]]) for r in (0, 1)).kind == "none"


def test_equal_dumps_name_nobody_and_a_missing_one_is_said() -> None:
    verdict = examine([dump(rank, enqueued=4, completed=3, world=3) for rank in (0, 1)])
    assert (verdict.kind, verdict.ranks, verdict.absent) == ("none", (), (2,))


def test_groups_of_point_to_point_traffic_blame_nobody() -> None:
    pipe = entry(0, "nccl:send", is_p2p=True)
    dumps = [dump(0, enqueued=9, completed=9, entries=[pipe]), dump(1, enqueued=4, completed=4, entries=[pipe])]
    assert examine(dumps).kind == "none"
