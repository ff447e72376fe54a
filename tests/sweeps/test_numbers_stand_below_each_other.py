"""Columns of a sweep's table: as many digits after every point."""

import pytest
from django.utils.translation import override

from webapp.sweeps.columns import column


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([2.302585, 0.6931471, None, 2.5], ["2.30259", "0.69315", "", "2.50000"]),
        ([0.1, 0.0001], ["0.1000", "0.0001"]),
        ([0.1, 1.234567e-5], ["1.0000e-01", "1.2346e-05"]),
        ([1e-5, 1e-3], ["1e-05", "1e-03"]),
        ([16, 128, 1024], ["16", "128", "1024"]),
        ([12345.678, 0.5], ["12345.7", "0.5"]),
        ([0, 0.0], ["0", "0"]),
        ([float("nan"), 0.25, float("-inf")], ["nan", "0.25", "-inf"]),
        ([], []),
    ],
)
def test_all_numbers_of_a_column_have_as_many_digits(values: list[float | None], texts: list[str]) -> None:
    made = column("lr", values)
    assert (made.texts, made.numeric) == (texts, True)


def test_words_and_switches_stay_as_they_are() -> None:
    made = column("opt", ["adam", True, 3, None])
    assert (made.texts, made.numeric) == (["adam", "True", "3", ""], False)


def test_the_point_is_the_readers() -> None:
    with override("pt-br"):
        assert column("lr", [0.25, 1.5]).texts == ["0,25", "1,50"]
