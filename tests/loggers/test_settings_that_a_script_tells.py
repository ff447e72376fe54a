"""What `paceline.config` told is what the run can be searched by."""

import pytest

from tests import builders
from trainer_agent.rank.settings import MOST, flat
from trainer_agent.wire.messages import Event
from webapp.history.models import ConfigValue
from webapp.runs import secrets
from webapp.runs.lifecycle import apply_event


def test_nested_settings_become_flat_text_and_are_bounded() -> None:
    assert flat({"model": {"lr": 0.1, "layers": [1, 2]}, "none": None}) == {
        "model.lr": "0.1",
        "model.layers": "[1, 2]",
        "none": "None",
    }
    assert len(flat({f"k{number}": "x" * 10_000 for number in range(3_000)})) == MOST
    assert max(len(value) for value in flat({"k": "x" * 10_000}).values()) == 500


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_client")
def test_they_are_kept_without_what_is_secret_and_not_among_the_ranks_facts() -> None:
    attempt = builders.running_attempt()
    secrets.keep(attempt.run, {"KEY": "very secret words"})
    told = {"lr": "0.25", "url": "https://x/?k=very secret words", "api_token": "abc"}
    part = attempt.parts.get(node_rank=0)
    apply_event(part, Event(kind="rank_facts", at=1.0, rank=0, data={"config": told, "torch": "2"}))
    kept = dict(ConfigValue.objects.filter(run=attempt.run).values_list("key__name", "text"))
    assert kept == {"lr": "0.25", "url": f"https://x/?k={secrets.HIDDEN}"}
    assert attempt.ranks.get(rank=0).facts == {"torch": "2"}
