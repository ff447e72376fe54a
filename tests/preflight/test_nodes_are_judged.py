"""What single nodes tell: room, versions, GPUs, clocks, and who tells nothing."""

from typing import Any

import pytest

from webapp.preflight import words
from webapp.preflight.answers import Seen
from webapp.preflight.verdict import judge, stored

GB = 2**30
GOOD: dict[str, Any] = {
    "versions": {"python": "3.11.7", "torch": "2.9.1", "nccl": "2.27.5"},
    "driver": "570.1",
    "disk": {"path": "/srv", "free": 900 * GB, "writable": True},
    "shared": {"path": "/dev/shm", "free": 60 * GB, "writable": True},
    "gpus": [{"index": 0, "model": "H200", "lost": False, "uncorrected": 0, "slowed": [], "temperature": 40}],
}


def node(name: str, **facts: Any) -> Seen:
    return Seen(name, address="10.0.0.1", facts={**GOOD, **facts})


def told(*nodes: Seen) -> tuple[str, list[str]]:
    verdict = judge(nodes, {})
    findings = stored(verdict.findings)
    assert all(words.next_step(one) for one in findings)
    return verdict.level, [words.sentence(one) for one in findings]


def gpu(**fields: Any) -> list[dict[str, Any]]:
    return [{**GOOD["gpus"][0], **fields}]


def test_nodes_that_are_alike_and_healthy_are_green():
    assert told(node("a"), node("b")) == ("green", [])


@pytest.mark.parametrize(
    ("facts", "level", "sentence"),
    [
        ({"disk": {"path": "/srv", "free": GB // 2, "writable": True}}, "red", "b has only 512 MB free in /srv."),
        ({"disk": {"path": "/srv", "free": 5 * GB, "writable": True}}, "amber", "b has only 5.0 GB free in /srv."),
        ({"disk": {"path": "/srv", "free": None}}, "red", "/srv is not there on b."),
        ({"disk": {"path": "/srv", "free": GB * 99, "writable": False}}, "red", "/srv on b cannot be written to."),
        (
            {"shared": {"path": "/dev/shm", "free": 64 * 2**20, "writable": True}},
            "amber",
            "b has only 64 MB of shared memory free in /dev/shm.",
        ),
        ({"gpus": gpu(lost=True)}, "red", "GPU 0 of b has fallen off the bus."),
        ({"gpus": gpu(uncorrected=2)}, "red", "GPU 0 of b had 2 memory errors that could not be corrected."),
        ({"gpus": gpu(remap_failed=True)}, "red", "GPU 0 of b has memory that can no longer be repaired."),
        (
            {"gpus": gpu(retire_pending=True)},
            "amber",
            "GPU 0 of b has bad memory that waits for a reset to be taken out.",
        ),
        ({"gpus": gpu(slowed=["heat"])}, "amber", "GPU 0 of b is slowed down (heat)."),
        ({"gpus": gpu(temperature=86, slows_at=88)}, "amber", "GPU 0 of b is at 86 °C and slows down at 88 °C."),
    ],
)
def test_what_is_wrong_with_a_node_is_said(facts, level, sentence):
    assert told(node("a"), node("b", **facts)) == (level, [sentence])


def test_versions_that_cannot_talk_to_each_other_are_red_and_the_odd_one_is_named():
    odd = {**GOOD["versions"], "torch": "2.8.0+cu128"}
    assert told(node("a"), node("b", versions=odd), node("c")) == (
        "red",
        ["b: torch 2.8.0+cu128, the others have 2.9.1."],
    )
    near = {**GOOD["versions"], "torch": "2.9.0"}
    assert told(node("a"), node("b", versions=near), node("c"))[0] == "amber"
    none = {**GOOD["versions"], "nccl": ""}
    assert told(node("a"), node("b", versions=none), node("c")) == (
        "amber",
        ["b: NCCL none, the others: 2.27.5."],
    )


def test_other_kinds_of_gpu_and_another_driver_are_worth_a_look():
    level, sentences = told(node("a"), node("b"), node("c", driver="550.9", gpus=gpu(model="A100")))
    assert level == "amber"
    assert sentences == ["c: driver 550.9, the others have 570.1.", "c: GPUs 1 × A100, the others have 1 × H200."]


def test_who_does_not_answer_is_amber_and_named_with_the_reason():
    level, sentences = told(
        node("a"),
        Seen("b", presence="too_old"),
        Seen("c", presence="unreachable"),
        Seen("d", presence="asked"),
        Seen("e", presence="opened", facts=GOOD),
    )
    assert level == "amber"
    assert sentences == [
        "The agent on b is too old to be checked.",
        "c cannot be reached by the server, so it was not checked.",
        "d did not answer in time, so it was not checked.",
        "e did not tell in time what its links carry.",
    ]


def test_an_address_that_leads_to_oneself_is_red_only_where_others_have_real_ones():
    own = Seen("a", address="127.0.0.1", facts=GOOD)
    assert told(own, Seen("b", address="127.0.0.1", facts=GOOD))[0] == "green"
    assert told(own, node("b")) == (
        "red",
        ["a gives 127.0.0.1 as its address, which leads every other node to itself."],
    )


def test_a_clock_that_is_off_by_more_than_its_error_is_told():
    assert told(node("a"), Seen("b", facts=GOOD, clock_offset=-3.0, clock_error=0.1)) == (
        "amber",
        ["The clock of b is -3.0 s off the server's."],
    )
    assert told(node("a"), Seen("b", facts=GOOD, clock_offset=-3.0, clock_error=5.0))[0] == "green"


@pytest.mark.parametrize(
    "facts", [{"disk": 3}, {"gpus": "x"}, {"versions": None}, {"gpus": [1]}, {"shared": {"free": "?"}}]
)
def test_facts_that_cannot_be_read_do_no_harm(facts):
    judge([node("a"), node("b", **facts)], {})
