from itertools import permutations

import pytest

from workers.detect.links import Link, locate

NODES = 4


def links(
    hot: set[tuple[int, int]], *, nodes: int = NODES, before: float | None = 8.0, lost: float = 0.0
) -> list[Link]:
    """All links between the nodes cost 8 ms a megabyte, the hot ones 80."""
    return [Link(a, b, 80.0 if (a, b) in hot else 8.0 + 0.1 * a, 0.0, before) for a, b in permutations(range(nodes), 2)]


def named(found) -> str:
    return found[0].subject if found else ""


@pytest.mark.parametrize("before", [8.0, None])
@pytest.mark.parametrize(
    ("hot", "subject"),
    [
        ({(1, 2)}, "link 1-2"),
        ({(1, 2), (2, 1)}, "link 1-2"),
        ({(1, 0), (1, 2), (1, 3)}, "node 1"),
        ({(0, 3), (1, 3), (2, 3)}, "node 3"),
        ({(2, 0), (2, 1), (2, 3), (0, 2), (1, 2), (3, 2)}, "node 2"),
    ],
)
def test_what_all_hot_links_share_is_named(hot, subject, before) -> None:
    assert named(locate(links(hot, before=before), slowdown=0.3, since=9)) == subject


def test_all_links_slower_than_before_are_the_middle_of_the_network() -> None:
    everyone = set(permutations(range(NODES), 2))
    (found,) = locate(links(everyone), slowdown=0.3, since=9)
    assert (found.subject, found.link, found.node_rank) == ("job", None, None)


def test_between_two_nodes_the_slow_direction_is_a_link() -> None:
    (found,) = locate(links({(0, 1)}, nodes=2), slowdown=0.3, since=9)
    assert (found.link, found.probable) == ((0, 1), False)


def test_of_both_ways_of_a_link_the_one_that_costs_more_is_named() -> None:
    both = [Link(a, b, {(3, 0): 80.0, (0, 3): 30.0}.get((a, b), 8.0), 0.0, 8.0) for a, b in permutations(range(4), 2)]
    assert named(locate(both, slowdown=0.3, since=9)) == "link 3-0"


def test_bytes_sent_again_are_enough_and_are_quoted() -> None:
    lossy = [Link(a, b, 8.0, 0.02 if (a, b) == (2, 0) else 0.0, 8.0) for a, b in permutations(range(3), 2)]
    (found,) = locate(lossy, slowdown=0.0, since=9)
    assert (found.link, found.evidence["retransmitted"]) == ((2, 0), 0.02)


def test_equal_links_are_no_finding() -> None:
    assert locate(links(set()), slowdown=0.3, since=9) == []
    assert locate(links(set(), before=None), slowdown=0.3, since=9) == []
    assert locate([], slowdown=0.3, since=9) == []
