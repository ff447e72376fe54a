"""docs/settings.md tells of every setting, and of none that is not there."""

import re
from pathlib import Path

from webapp.supervisor.environment import DECIDED_HERE, HOME

REPO = Path(__file__).resolve().parents[2]


def read_by_the_server() -> set[str]:
    return set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', (REPO / "webapp" / "settings.py").read_text()))


def rows() -> list[str]:
    """The first cells of the table of the server's settings."""
    section = (REPO / "docs" / "settings.md").read_text().split("\n## ")[1]
    return re.findall(r"^\| (`[A-Z_]+`.*?) \|", section, re.MULTILINE)


def test_every_setting_of_the_server_is_described_and_no_other():
    assert read_by_the_server() == {row.split("`")[1] for row in rows()}


def test_what_up_decides_itself_is_marked():
    marked = {row.split("`")[1] for row in rows() if "●" in row}

    assert marked == {HOME, *DECIDED_HERE} - {"DJANGO_SETTINGS_MODULE"}
