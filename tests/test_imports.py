"""Who may import what, where import-linter cannot look: third-party packages of each part of the agent."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
AGENT = REPO / "trainer_agent"
# Each file and folder of inject/ is a module by its own name in a rank, because that folder is on its path.
INJECTED = {path.stem for path in (AGENT / "inject").iterdir()}
# Modules that a script imports when it has the framework; each needs the one that it is for.
FRAMEWORKS = {"lightning", "pytorch_lightning", "transformers", "accelerate", "keras"}
STDLIB_WIRE = {f"trainer_agent.wire.{name}" for name in ("record", "environment", "names", "launch", "whole_file")}


def imported(path: Path) -> Iterator[str]:
    """Full names of the modules that a file imports anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: say the full name of what you import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def third_party(path: Path) -> set[str]:
    tops = {name.split(".")[0] for name in imported(path)}
    return tops - sys.stdlib_module_names - {"trainer_agent", *INJECTED}


def own(path: Path) -> set[str]:
    """The modules of trainer_agent that a file imports."""
    names = (name for name in imported(path) if name.startswith("trainer_agent."))
    return {name for name in names if _is_module(name)}


def _is_module(name: str) -> bool:
    path = REPO / name.replace(".", "/")
    return path.with_suffix(".py").exists()


def python_files(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((REPO / folder).rglob("*.py"))]
    assert found, f"no Python files below {folders}"
    return found


def wire_files() -> list[Path]:
    return [REPO / f"{name.replace('.', '/')}.py" for name in sorted(STDLIB_WIRE)]


def test_a_rank_needs_the_standard_library_and_torch_only():
    loggers = AGENT / "inject" / "paceline"
    for path in python_files("trainer_agent/rank", "trainer_agent/inject"):
        is_logger = path.parent == loggers and path.name != "__init__.py"
        assert third_party(path) <= (FRAMEWORKS if is_logger else {"torch"}), path


def test_the_shim_and_the_wire_that_ranks_read_need_the_standard_library_only():
    for path in [*python_files("trainer_agent/shim"), *wire_files()]:
        assert third_party(path) == set(), path


@pytest.mark.parametrize("part", ["rank", "inject", "shim"])
def test_of_the_wire_they_use_only_what_is_standard_library(part):
    for path in python_files(f"trainer_agent/{part}"):
        wire = {name for name in own(path) if name.startswith("trainer_agent.wire.")}
        assert wire <= STDLIB_WIRE, path


def test_the_agent_and_the_command_line_know_neither_torch_nor_django():
    for path in python_files("trainer_agent/agent", "trainer_agent/cli"):
        assert not third_party(path) & {"torch", "django", "celery", "webapp", "workers"}, path


def test_the_web_process_never_imports_the_workers():
    for path in python_files("webapp"):
        assert "workers" not in {name.split(".")[0] for name in imported(path)}, path
