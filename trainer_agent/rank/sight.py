"""What this rank's probe can see, and in plain words what it cannot. Pure."""

from collections.abc import Mapping

# part of the probe -> the phases that it alone can see
PHASES_OF_PART = {
    "data": ("data",),
    "forward": ("forward",),
    "backward": ("backward", "exposed_comm"),
    "local_backward": ("backward", "exposed_comm"),
    "optimizer": ("optimizer",),
}
NO_LOADER = "no torch DataLoader is in use; loading counts as other"
NO_WRAPPER = "the model is not wrapped in DistributedDataParallel or FSDP; forward counts as other"
NO_GROUP = "torch.distributed is not initialised"
NO_DDP_TIMERS = "DDP's own timers would make a GPU wait"


def cannot_see(
    failed: Mapping[str, str], *, loader: bool, wrapper: bool, process_group: bool, on_cuda: bool
) -> dict[str, str]:
    """Phase -> why it is missing from this rank's records."""
    reasons: dict[str, str] = {}
    if not loader:
        reasons["data"] = NO_LOADER
    if not wrapper:
        reasons["forward"] = NO_WRAPPER
    if not process_group:
        reasons["exposed_comm"] = NO_GROUP
    if on_cuda:
        reasons["comm_total"] = NO_DDP_TIMERS
    for part, error in failed.items():
        for phase in PHASES_OF_PART.get(part, ()):
            reasons[phase] = error
    return reasons
