"""The search syntax, what each key asks for, and how errors name their place."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests import builders
from tests.history.made import run
from webapp.accounts.models import User
from webapp.history import arrange
from webapp.history.record import note_settings
from webapp.history.search import search
from webapp.history.settings_of import settings_of
from webapp.history.terms import SearchError
from webapp.incidents.models import Incident
from webapp.projects.models import Project

pytestmark = pytest.mark.django_db


def found(user: User, text: str) -> set[str]:
    return {row.name for row in search(user, text)}


def test_each_key_finds_what_it_names(project: Project, ana: User) -> None:
    a = run(project, "a", "--lr", "1e-3", "--opt=adam", outcome="failed", nodes=2, last_loss=0.2, metrics={"acc": 0.9})
    run(project, "b", "lr=0.1", outcome="succeeded", last_loss=0.5, metrics={"acc": 0.5, "val/loss": 3.0},
        created_at=timezone.now() - timedelta(days=30))  # fmt: skip
    arrange.tag([a.pk], "baseline")
    arrange.star([a.pk], ana)
    arrange.group([a.pk], "first try")
    attempt = a.attempts.create(number=1, world_size=2)
    Incident.objects.create(attempt=attempt, kind="straggler", subject="rank 1", cause="cpu", severity="info")
    for text in (
        "status:failed", "tag:baseline", "tag:base*", "loss<0.3", "nodes>1", "config.lr<=1e-3", "config.lr:0.001",
        "config.opt:adam", "incident:straggler", "incident:open", "age<7d", "acc>0.8", "metric.acc>0.8",
        "max(acc)>=1.9", "is:favourite", "is:mine -name:b", 'group:"first try"', "name:a owner:me",
        "-status:finished", "NOT status:finished",
        "config.opt:*", "created>2020-01-01 -age>7d", "(tag:nope OR nodes=2) project:demo", "baseline", "acc!=0.5",
    ):  # fmt: skip
        assert found(ana, text) == {"a"}, text
    assert found(ana, "val/loss<4 OR status:failed") == {"a", "b"}
    assert found(ana, "status:failed,finished") == {"a", "b"}
    assert found(ana, "config.lr!=1e-3") == {"b"}
    assert found(ana, "config.lr>0.01") == {"b"}
    assert found(ana, "tag:other") == set()


def test_what_is_archived_shows_only_when_it_is_asked_for(project: Project, ana: User) -> None:
    old = run(project, "old")
    run(project, "new")
    arrange.archive([old.pk], away=True)
    assert found(ana, "") == {"new"}
    assert found(ana, "is:archived") == {"old"}
    assert found(ana, "is:archived OR new") == {"old", "new"}


def test_what_was_deleted_can_be_found_for_a_day(project: Project, ana: User) -> None:
    run(project, "just now", deleted_at=timezone.now())
    run(project, "long ago", deleted_at=timezone.now() - timedelta(hours=25))
    assert found(ana, "") == set()
    assert found(ana, "is:deleted") == {"just now"}


def test_nobody_finds_a_run_of_others_by_its_values(project: Project) -> None:
    run(project, "a", "--lr", "1", metrics={"acc": 1.0})
    stranger = builders.user("eve")
    for text in ("acc>0", "config.lr:1", "-acc>5", "is:mine OR acc>0"):
        assert found(stranger, text) == set()


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("a staus:failed", 3, "did you mean “status”"),
        ("status:", 8, "Say what to look for"),
        ("status:nonsense", 8, "It can be queued"),
        ("loss<high", 6, "is no number"),
        ("age<week", 5, "is no time"),
        ("created>soon", 9, "is no day"),
        ('a "b', 3, "never closed"),
        ("(a", 3, "missing at the end"),
        ("owner>3", 1, "has no order"),
        ("staus=failed", 1, "did you mean"),
        ("(" * 60, 1, "too many brackets"),
        ("x" * 3000, 2000, "longer than"),
    ],
)
def test_an_error_says_where_it_is(ana: User, text: str, at: int, says: str) -> None:
    with pytest.raises(SearchError, match=says) as error:
        search(ana, text)
    assert error.value.at == at


def test_settings_are_read_from_the_command() -> None:
    argv = [
        "t.py",
        "--lr",
        "0.1",
        "-b",
        "32",
        "--amp",
        "--shift",
        "-0.5",
        "--name=a=b",
        "model.dim=8",
        "+x=1",
        "in.txt",
    ]
    expected = {"lr": "0.1", "b": "32", "amp": "true", "shift": "-0.5", "name": "a=b", "model.dim": "8", "x": "1"}
    assert settings_of(argv, {}) == expected
    assert settings_of(["t.py", "--api-key", "s3cret"], {"SEED": "1", "HF_TOKEN": "x"}) == {"env.SEED": "1"}
    torchrun = ["torchrun", "--nproc-per-node", "8", "train.py", "--lr", "1"]
    assert settings_of(torchrun, {}, attached=True) == {"lr": "1"}


def test_a_setting_that_comes_later_takes_the_place_of_the_first(project: Project, ana: User) -> None:
    row = run(project, "a", "--lr", "1")
    note_settings(row, {"lr": "2"})
    assert found(ana, "config.lr=2") == {"a"}
    assert found(ana, "config.lr=1") == set()
