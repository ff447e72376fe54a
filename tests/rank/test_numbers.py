import gc

from trainer_agent.rank.numbers import Numbers


class Thing:
    """Neither comparable nor hashable by its identity."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_a_number_stays_with_its_object_and_equal_ones_have_their_own() -> None:
    numbers, one, other = Numbers(), Thing(), Thing()
    assert [numbers.of(thing) for thing in (one, other, one, other)] == [1, 2, 1, 2]


def test_an_object_in_the_place_of_one_that_is_gone_gets_a_new_number() -> None:
    numbers = Numbers()
    seen, places = set(), set()
    for _ in range(100):
        thing = Thing()
        places.add(id(thing))
        seen.add(numbers.of(thing))
        del thing
    assert len(places) < 100
    assert len(seen) == 100


def test_it_holds_nothing_alive() -> None:
    numbers, ended = Numbers(), []

    class Ends(Thing):
        def __del__(self) -> None:
            ended.append(True)

    numbers.of(Ends())
    gc.collect()
    assert ended == [True]
