import json
import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.incidents.dumps import content
from webapp.incidents.flight_recorder.reading import BadDump, read


class _Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickle_that_would_run_a_command_is_refused_and_runs_nothing(tmp_path: Path, protocol: int) -> None:
    data = pickle.dumps(content(enqueued=1, completed=1) | {"version": _Touch(tmp_path / "done")}, protocol)
    with pytest.raises(BadDump, match=r"rank_3 was refused: .*system is not allowed"):
        read("rank_3", data)
    assert not (tmp_path / "done").exists()


def test_a_class_of_ours_is_refused_too() -> None:
    with pytest.raises(BadDump, match="is not allowed"):
        read("rank_0", pickle.dumps({"version": Path("x")}))


@given(st.binary(max_size=300))
def test_bytes_of_any_kind_are_an_error_with_the_file_s_name(data: bytes) -> None:
    with pytest.raises(BadDump, match="rank_0"):
        read("rank_0", data)


@pytest.mark.parametrize(
    "wrong", [{"version": 1}, {"version": "2", "entries": [{}]}, {"version": "2", "pg_status": []}]
)
def test_a_dump_of_the_wrong_form_is_an_error(wrong: dict) -> None:
    with pytest.raises(BadDump, match="is not a flight-recorder dump"):
        read("rank_0", pickle.dumps(wrong))


def test_a_name_without_a_rank_is_an_error() -> None:
    with pytest.raises(BadDump, match="number of its rank"):
        read("dump", b"")


def test_json_says_the_same_as_the_pickle() -> None:
    said = content(enqueued=6, completed=5)
    assert read("rank_1.json", json.dumps(said).encode()) == read("rank_1", pickle.dumps(said))
