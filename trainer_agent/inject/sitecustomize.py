"""Runs at the start of every Python process of a run. Costs next to nothing until the process imports torch."""

import os
import sys
from typing import Any


class _ArmAtTorch:
    """A finder that finds nothing. The first import of torch arms the probe."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name != "torch":
            return
        sys.meta_path.remove(self)
        try:
            from _paceline_load import load_agent  # type: ignore[import-not-found]  # this folder is on the path

            load_agent()
            from trainer_agent.rank.arm import arm

            arm()
        except Exception:  # training starts without a probe
            return


def _run_the_next_one() -> None:
    """Do what Python would have done without us: import the `sitecustomize` that stands later on the path."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec("sitecustomize", [p for p in sys.path if os.path.abspath(p) != here])
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if "PACELINE_RING_DIR" in os.environ and "RANK" in os.environ and os.environ.get("PACELINE_PROBE") != "0":
    sys.meta_path.insert(0, _ArmAtTorch())
_run_the_next_one()
