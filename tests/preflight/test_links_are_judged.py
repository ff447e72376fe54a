"""Made matrices: a bad link or a bad node is named, and nothing else is."""

from hypothesis import given
from hypothesis import strategies as st

from webapp.preflight import words
from webapp.preflight.answers import Link, Seen, better, checked_link
from webapp.preflight.link_verdict import suspects
from webapp.preflight.verdict import Verdict, judge, stored

RATE = st.floats(85, 118)  # MB/s, as links that are in line differ
FACTS = {"versions": {"torch": "2.9.0"}, "disk": {"path": "/srv", "free": 2**40, "writable": True}}


def seen(count: int, **fields: object) -> list[Seen]:
    return [Seen(f"node-{k}", facts=FACTS, **fields) for k in range(count)]  # type: ignore[arg-type]


@st.composite
def healthy(draw: st.DrawFn, least: int = 2, most: int = 7) -> dict[tuple[int, int], Link]:
    count = draw(st.integers(least, most))
    pairs = [(a, b) for a in range(count) for b in range(count) if a != b]
    return {pair: Link(mb_s=draw(RATE), rtt_ms=draw(st.floats(0.05, 0.3))) for pair in pairs}


def count_of(links: dict[tuple[int, int], Link]) -> int:
    return 1 + max(a for a, _b in links)


def verdict(links: dict[tuple[int, int], Link]) -> Verdict:
    return judge(seen(count_of(links)), links)


def said(found: Verdict) -> list[str]:
    return [words.sentence(one) for one in stored(found.findings)]


@given(healthy())
def test_links_that_differ_a_little_are_green(links):
    found = verdict(links)
    assert (found.level, found.findings) == ("green", [])


@given(healthy(least=3), st.data())
def test_one_slow_direction_is_red_and_alone(links, data):
    pair = data.draw(st.sampled_from(sorted(links)))
    links[pair] = Link(mb_s=data.draw(st.floats(0, 20)), rtt_ms=0.1)
    found = verdict(links)
    assert [(f.level, f.kind, f.nodes) for f in found.findings] == [
        ("red", "link_slow", (f"node-{pair[0]}", f"node-{pair[1]}"))
    ]
    assert [at for at, cell in found.cells.items() if cell.level != "green"] == [pair]
    assert suspects(found.cells)[0] == (min(pair), max(pair))


@given(healthy(least=3), st.data())
def test_a_bad_network_card_is_one_finding_and_its_peers_are_not_blamed(links, data):
    bad = data.draw(st.integers(0, count_of(links) - 1))
    for pair in links:
        if bad in pair:
            links[pair] = Link(mb_s=data.draw(st.floats(1, 20)), rtt_ms=0.1)
    (finding,) = verdict(links).findings
    assert (finding.level, finding.kind, finding.nodes) == ("red", "node_slow", (f"node-{bad}",))
    assert finding.told["direction"] == "both"


@given(healthy(least=3), st.data())
def test_a_card_that_only_sends_slowly_is_told_from_one_that_receives_slowly(links, data):
    bad = data.draw(st.integers(0, count_of(links) - 1))
    end = data.draw(st.sampled_from([0, 1]))
    for pair in links:
        if pair[end] == bad:
            links[pair] = Link(mb_s=10.0, rtt_ms=0.1)
    (finding,) = verdict(links).findings
    assert (finding.nodes, finding.told["direction"]) == ((f"node-{bad}",), ("out", "in")[end])


@given(healthy(least=4), st.data())
def test_a_link_that_is_cut_is_red_in_one_sentence(links, data):
    a, b = data.draw(st.sampled_from(sorted(links)))
    links[a, b] = links[b, a] = Link(error="silent")
    (finding,) = verdict(links).findings
    assert (finding.level, finding.kind, set(finding.nodes)) == ("red", "link_cut", {f"node-{a}", f"node-{b}"})


def test_the_sentence_names_both_ends_the_number_and_how_bad_it_is():
    links = {(a, b): Link(mb_s=1080.0, rtt_ms=0.1) for a in range(4) for b in range(4) if a != b}
    links[3, 1] = Link(mb_s=180.0, rtt_ms=0.1)
    (text,) = said(verdict(links))
    assert text == "node-3 to node-1 carries 180 MB/s, a sixth of what the others carry."


def test_two_nodes_are_held_against_each_other_and_against_their_past():
    one_way = {(0, 1): Link(mb_s=10.0), (1, 0): Link(mb_s=100.0)}
    assert said(verdict(one_way)) == ["node-0 to node-1 carries 10 MB/s, a tenth of what the others carry."]
    both = {pair: Link(mb_s=10.0, usual_mb_s=100.0) for pair in ((0, 1), (1, 0))}
    found = verdict(both)
    assert (found.level, {f.kind for f in found.findings}) == ("red", {"link_slower"})
    assert said(found)[0] == "node-0 to node-1 carries 10 MB/s, a tenth of what it carried before."
    assert verdict({pair: Link(mb_s=10.0) for pair in both}).level == "green"


def test_a_network_that_was_always_like_this_does_not_stop_a_run():
    links = {(a, b): Link(mb_s=100.0, usual_mb_s=100.0) for a in range(4) for b in range(4) if a != b}
    links[0, 3] = Link(mb_s=20.0, usual_mb_s=22.0)
    assert verdict(links).level == "amber"
    links[0, 3] = Link(mb_s=20.0, usual_mb_s=90.0)
    assert verdict(links).level == "red"


def test_a_link_that_a_run_uses_is_no_reason_to_stop_another_one():
    links = {(a, b): Link(mb_s=100.0) for a in range(3) for b in range(3) if a != b}
    links[0, 2] = Link(mb_s=5.0)
    assert judge(seen(3, is_busy=True), links).level == "amber"
    assert judge(seen(3), links).level == "red"


def test_round_trips_count_when_they_are_many_times_the_others_and_more_than_noise():
    links = {(a, b): Link(mb_s=100.0, rtt_ms=0.1) for a in range(3) for b in range(3) if a != b}
    for slow, level in ((0.8, "green"), (2.0, "amber"), (40.0, "red")):
        links[0, 1] = links[1, 0] = Link(mb_s=100.0, rtt_ms=slow)
        assert verdict(links).level == level
    assert said(verdict(links)) == ["Between node-0 and node-1 a round trip takes 40 ms; 0.10 ms is usual."]


def test_ports_that_are_closed_are_told_from_a_cut_and_from_each_other():
    links = {(a, b): Link(mb_s=100.0, rtt_ms=0.1) for a in range(3) for b in range(3) if a != b}
    links[1, 0] = Link(mb_s=100.0, rtt_ms=0.1, meeting="silent")
    assert said(verdict(links)) == ["node-1 cannot reach the rendezvous ports of node-0."]
    links[1, 0] = links[0, 1] = Link(rtt_ms=0.1, error="silent")
    assert said(verdict(links)) == ["node-0 and node-1 meet, but cannot exchange data on other ports: nothing answers."]


def test_a_node_that_came_too_late_says_nothing_about_the_link():
    found = verdict({(0, 1): Link(error="late"), (1, 0): Link(error="late")})
    assert found.level == "green"
    assert suspects(found.cells) == [(0, 1)]


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda own: st.dictionaries(
    st.sampled_from(["mb_s", "rtt_ms", "error", "meeting", "x"]), own)))  # fmt: skip
def test_whatever_a_node_tells_of_a_link_only_numbers_and_short_words_are_kept(told):
    kept = checked_link(told)
    assert all(0 <= kept[name] < 1e9 for name in ("mb_s", "rtt_ms") if name in kept)
    assert all(len(kept[name]) <= 20 for name in ("error", "meeting") if name in kept)


def test_a_second_measurement_makes_no_link_worse():
    assert better({"mb_s": 5.0, "rtt_ms": 1.0, "error": "broken"}, {"mb_s": 90.0, "rtt_ms": 2.0}) == {
        "mb_s": 90.0,
        "rtt_ms": 1.0,
    }
    assert better({"error": "silent"}, {"error": "refused"}) == {"error": "refused"}
