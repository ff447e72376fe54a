"""Numbers, pace lines and sparklines as people see them."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from webapp.runs import pace
from webapp.runs.spark import spark
from webapp.runs.templatetags import figures


@pytest.mark.parametrize(
    ("seconds", "full", "short"),
    [
        (None, "–", "–"),
        (-3, "0 s", "0 s"),
        (2.9, "2 s", "2 s"),
        (612, "10 m 12 s", "10 m"),
        (5460, "1 h 31 m", "1 h 31 m"),
        (3900, "1 h 05 m", "1 h 05 m"),
        (86400 * 3 + 7200, "3 d 2 h", "3 d 2 h"),
    ],
)
def test_durations_read_as_words(seconds: float | None, full: str, short: str) -> None:
    assert figures.duration(seconds) == full
    assert figures.duration(seconds, "short") == short


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(5, "5 s ago"), (1100, "18 m ago"), (7300, "2 h ago"), (90000, "yesterday"), (86400 * 3 + 9, "3 days ago")],
)
def test_how_long_ago(seconds: float, text: str) -> None:
    assert figures.ago(timezone.now() - timedelta(seconds=seconds)) == text


def test_an_age_ticks_from_the_servers_time() -> None:
    since = timezone.now() - timedelta(seconds=2.5)
    assert f'data-since="{since.timestamp():.1f}" data-age="full">2 s<' in figures.age(since)
    assert figures.age(None) == "–"


def test_a_moment_is_written_in_utc_and_carries_what_the_browser_needs() -> None:
    at = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert ">3 Feb 2026, 04:05 UTC<" in figures.moment(at)
    assert 'data-at="day">3 Feb 2026<' in figures.moment(at, "day")
    assert 'datetime="2026-02-03T04:05:06+00:00" title="3 Feb 2026, 04:05:06 UTC"' in figures.moment(at)
    assert figures.moment(None) == "–"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (math.nan, "NaN"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (0, "0"),
        (3.41215, "3.412"),
        (34.1215, "34.12"),
        (0.7341, "0.734"),
        (0.00123, "0.00123"),
        (3e-7, "3e-07"),
        (12345.6, "12,346"),
        (2.5e12, "2.5e+12"),
        (-3.41215, "-3.412"),
    ],
)
def test_a_value_of_any_size_is_short(value: float | None, text: str) -> None:
    assert figures.figure(value) == text


def test_units_stand_after_a_space() -> None:
    assert figures.number(1366) == "1,366"
    assert figures.ms(0.2124) == "212 ms"
    assert figures.ms(0.0004) == "0.4 ms"
    assert figures.bytes_(512) == "512 B"
    assert figures.bytes_(4.2 * 1024**3) == "4.2 GB"
    assert figures.bytes_(768 * 1024**3) == "768 GB"
    assert figures.percent(17.4) == "17 %"
    assert figures.ms(None) == figures.bytes_(None) == figures.percent(None) == figures.number(None) == "–"


def test_a_pace_line_has_a_mark_for_each_rank_and_a_gap_between_nodes() -> None:
    assert pace.marks(2, 2, special={3: "slow"}) == ["", "", "gap", "", "slow"]


def test_many_ranks_share_marks_and_a_special_one_is_still_seen() -> None:
    marks = pace.marks(64, 8, special={300: "hung"})
    assert len(marks) == pace.MOST
    assert marks.count("hung") == 1
    assert marks.index("hung") == 300 * pace.MOST // 512


def test_a_sparkline_fills_its_box_and_breaks_at_gaps() -> None:
    drawn = spark([4.0, 3.0, None, 2.0, 2.0])
    assert drawn is not None
    assert drawn.path == "M0.0 2.0L17.5 10.0M52.5 18.0L70.0 18.0"
    assert (drawn.x, drawn.y) == (70.0, 18.0)


def test_a_sparkline_of_the_largest_numbers_stays_in_its_box() -> None:
    drawn = spark([-1.7e308, 0.0, 1.7e308])
    assert drawn is not None
    assert drawn.path == "M0.0 18.0L35.0 10.0L70.0 2.0"


def test_a_sparkline_needs_two_values_and_bears_equal_ones() -> None:
    assert spark([]) is None
    assert spark([1.0, None]) is None
    assert spark([1.0, 1.0]) is not None
