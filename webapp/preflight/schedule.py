"""Which nodes measure each other when: pure. In one turn no node is in two pairs."""

from collections.abc import Iterable, Sequence

Pair = tuple[int, int]
MOST_TURNS = 127  # each node is measured with so many others


def everybody(places: Sequence[int], most: int = MOST_TURNS) -> list[list[Pair]]:
    """Every node with every other one, as in a tournament; with more than `most` others, with some of them evenly."""
    seats: list[int | None] = [*places] if len(places) % 2 == 0 else [*places, None]
    turns = []
    for _turn in range(len(seats) - 1):
        halves = zip(seats[: len(seats) // 2], reversed(seats[len(seats) // 2 :]), strict=True)
        turns.append([(min(a, b), max(a, b)) for a, b in halves if a is not None and b is not None])
        seats = [seats[0], seats[-1], *seats[1:-1]]
    turns = [turn for turn in turns if turn]
    if len(turns) <= most:
        return turns
    return [turns[k * len(turns) // most] for k in range(most)]


def some(pairs: Iterable[Pair], most: int) -> list[list[Pair]]:
    """These pairs, each in the first turn that has room for it; what needs more than `most` turns is left out."""
    turns: list[list[Pair]] = []
    for pair in pairs:
        free = (turn for turn in turns if not any(set(pair) & set(other) for other in turn))
        turn = next(free, None)
        if turn is not None:
            turn.append(pair)
        elif len(turns) < most:
            turns.append([pair])
    return turns


def of_place(turns: Sequence[Sequence[Pair]], place: int) -> list[int]:
    """Whom this node measures in each turn, -1 for nobody."""
    return [next((a + b - place for a, b in turn if place in (a, b)), -1) for turn in turns]
