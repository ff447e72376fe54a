"""Lists in any order: no gap, no repeat, and what has no value comes last both ways."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.history.made import run
from webapp.accounts.models import User
from webapp.history.paging import page
from webapp.history.search import search
from webapp.projects.models import Project

pytestmark = pytest.mark.django_db


def walk(user: User, order: str, size: int = 3) -> list[str]:
    """Names to the end; and back again, which must be the same."""
    pages = [page(search(user), "", size, order)]
    while pages[-1].older:
        pages.append(page(search(user), pages[-1].older, size, order))
    cursor = pages[-1].newer
    for before in reversed(pages[:-1]):
        back = page(search(user), cursor, size, order)
        assert [row.pk for row in back.rows] == [row.pk for row in before.rows]
        cursor = back.newer
    assert cursor == ""
    assert pages[0].total == sum(len(one.rows) for one in pages)
    return [row.name for one in pages for row in one.rows]


@pytest.fixture
def runs(project: Project) -> None:
    now = timezone.now()
    for i, (lr, acc) in enumerate(
        [("3", 0.5), ("20", None), ("cosine", 0.7), (None, 0.6), ("1e-3", 0.5), (None, None)]
    ):
        argv = ("--lr", lr) if lr else ()
        run(project, f"n{i}", *argv, metrics={} if acc is None else {"acc": acc},
            last_loss=None if i == 2 else float(i % 4), started_at=now, ended_at=now + timedelta(seconds=i),
            group="" if i % 2 else f"g{i}", created_at=now - timedelta(days=i))  # fmt: skip


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("", "n0 n1 n2 n3 n4 n5"),
        ("created", "n5 n4 n3 n2 n1 n0"),
        ("metric.acc", "n0 n4 n3 n2 n1 n5"),
        ("-metric.acc", "n2 n3 n4 n0 n1 n5"),
        ("-max(acc)", "n2 n3 n4 n0 n1 n5"),
        ("config.lr", "n4 n0 n1 n2 n3 n5"),
        ("-config.lr", "n1 n0 n4 n2 n3 n5"),
        ("loss", "n0 n4 n1 n5 n3 n2"),
        ("-duration", "n5 n4 n3 n2 n1 n0"),
        ("name", "n0 n1 n2 n3 n4 n5"),
        ("group", "n0 n2 n4 n1 n3 n5"),
        ("metric.none", "n0 n1 n2 n3 n4 n5"),
    ],
)
def test_every_order_is_walked_to_its_end_and_back(ana: User, order: str, names: str) -> None:
    assert walk(ana, order) == names.split()


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "older.9.1.1",
        'older.0.1.t"x"',
        "older.0.1.t1e400",
        f"older.0.1.t{10**40}",
        "older.0.1.[[[",
        "newer.0.1.NaN",
    ],
)
def test_a_cursor_that_does_not_fit_shows_the_first_page(ana: User, cursor: str) -> None:
    assert page(search(ana), cursor, 3).rows[0].name == "n0"


@pytest.mark.usefixtures("runs")
def test_a_cursor_whose_value_its_order_cannot_have_shows_the_first_page(ana: User) -> None:
    for order in ("-steps", "-duration"):
        assert page(search(ana), 'older.0.1."x"', 3, order).rows == page(search(ana), "", 3, order).rows


@pytest.mark.usefixtures("runs")
def test_a_cursor_of_another_order_is_no_error(ana: User) -> None:
    cursor = page(search(ana), "", 3, "config.lr").older
    assert page(search(ana), cursor, 3, "name").total == 6
