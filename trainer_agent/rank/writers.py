"""Captures what a script gives to TensorBoard's `SummaryWriter.add_scalar`."""

from types import ModuleType
from typing import Any

from trainer_agent.rank.probe import Probe


class Writers:
    """Around `add_scalar(tag, scalar_value, global_step=None, …)` of torch's writer and of tensorboardX."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe

    def install(self, module: ModuleType) -> None:
        """After the import of `torch.utils.tensorboard.writer` or `tensorboardX.writer`."""
        self._probe.guard.around("writers", module.SummaryWriter, "add_scalar", self._before, _nothing)

    def _before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        names = ("self", "tag", "scalar_value", "global_step")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        self._probe.log({given["tag"]: given["scalar_value"]}, given.get("global_step"))


def _nothing(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    return None
