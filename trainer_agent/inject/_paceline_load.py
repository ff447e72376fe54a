"""Makes `trainer_agent` importable by its place, so that nothing else of this repository becomes importable."""

import importlib.util
import os
import sys


def load_agent() -> None:
    """Register the package `trainer_agent`, unless it already is."""
    if "trainer_agent" in sys.modules:
        return
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    spec = importlib.util.spec_from_file_location(
        "trainer_agent", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["trainer_agent"] = package
    spec.loader.exec_module(package)
