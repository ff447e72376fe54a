"""The agent's own wheel: what a node installs."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.test_imports import python_files, third_party

AGENT = Path(__file__).resolve().parents[2] / "trainer_agent"
PACKAGE_OF_MODULE = {"pynvml": "nvidia-ml-py", "yaml": "pyyaml"}
OF_THE_SCRIPT = {
    "torch",
    "lightning",
    "pytorch_lightning",
    "transformers",
    "accelerate",
    "keras",
}  # asked for by nobody
PROGRAMS = {"py-spy"}  # run, not imported


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is left in the working tree."""
    place = tmp_path_factory.mktemp("wheel")
    shutil.copytree(AGENT, place / "source", ignore=shutil.ignore_patterns("__pycache__"))
    build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "-q", "-w", place, place / "source"]
    subprocess.run([sys.executable, "-m", "pip", *map(str, build)], check=True)
    (found,) = place.glob("paceline_agent-*.whl")
    return found


def test_the_wheel_holds_every_module_of_the_agent(wheel: Path):
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("trainer_agent/")}

    assert inside == {f"trainer_agent/{path.relative_to(AGENT)}" for path in AGENT.rglob("*.py")}
    assert "trainer_agent/inject/sitecustomize.py" in inside


def test_its_command_line_works_where_only_it_is_installed(wheel: Path, tmp_path: Path):
    install = ["install", "--no-deps", "--no-index", "-q", "--target", str(tmp_path), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)

    shown = subprocess.run(
        [sys.executable, "-m", "trainer_agent.cli", "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "submit" in shown.stdout
    assert "join" in shown.stdout


def test_it_asks_for_exactly_what_its_modules_import():
    project = tomllib.loads((AGENT / "pyproject.toml").read_text())["project"]
    asked = {*project["dependencies"], *project["optional-dependencies"]["export"]}
    asked |= {*project["optional-dependencies"]["import"]}

    used = {name for path in python_files("trainer_agent") for name in third_party(path)}
    needed = {PACKAGE_OF_MODULE.get(name, name) for name in used - OF_THE_SCRIPT}
    assert needed | PROGRAMS == {re.split(r"[<>=\[ ]", requirement)[0] for requirement in asked}
