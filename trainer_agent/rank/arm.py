"""Arms the probe in this process: hooks into torch's modules as the script imports them."""

import os
import sys
from collections.abc import Callable
from types import ModuleType

from trainer_agent.rank.answers import Answers
from trainer_agent.rank.backwards import Backwards
from trainer_agent.rank.collectives import Collectives
from trainer_agent.rank.ddp import DdpModels
from trainer_agent.rank.deep import DeepHook
from trainer_agent.rank.forwards import Forwards
from trainer_agent.rank.graph_end import GraphEnd
from trainer_agent.rank.import_hook import AfterImport
from trainer_agent.rank.loaders import Loaders
from trainer_agent.rank.optimizers import Optimizers
from trainer_agent.rank.probe import Probe
from trainer_agent.rank.writers import Writers
from trainer_agent.wire import environment

Install = Callable[[ModuleType], None]
_probe: Probe | None = None


def armed() -> Probe | None:
    """This process's probe, made on the first call. None where there is nothing to probe for."""
    global _probe
    if _probe is None and _wanted():
        _probe = Probe(os.environ[environment.RING_DIR], int(os.environ["RANK"]))
    return _probe


def arm() -> None:
    """Hook into torch. Call it before torch is imported; it imports nothing of torch itself."""
    probe = armed()
    if probe is not None:
        hooks = _hooks(probe)
        sys.meta_path.insert(0, AfterImport({name: _safely(probe, name, install) for name, install in hooks.items()}))


def _wanted() -> bool:
    env = os.environ
    return environment.RING_DIR in env and env.get("RANK", "").isdigit() and env.get(environment.PROBE) != "0"


def _hooks(probe: Probe) -> dict[str, Install]:
    deep = DeepHook(probe) if os.environ.get(environment.DEEP) == "1" else None
    models = DdpModels(probe, GraphEnd(probe), deep)
    optimizers = Optimizers(probe)
    forwards = Forwards(probe, models)
    backwards = Backwards(probe, forwards, models, optimizers, deep)
    writers = Writers(probe)
    return {
        "torch.autograd": backwards.install,
        "torch.optim.optimizer": optimizers.install,
        "torch.amp.grad_scaler": optimizers.install_scaler,
        "torch.utils.data.dataloader": Loaders(probe).install,
        "torch.distributed.distributed_c10d": _both(Collectives(probe).install, Answers(probe).install),
        "torch.nn.parallel.distributed": forwards.install_ddp,
        "torch.distributed.fsdp.fully_sharded_data_parallel": forwards.install_fsdp,
        "torch.distributed.fsdp._fully_shard._fsdp_state": forwards.install_fsdp2,
        "torch.utils.tensorboard.writer": writers.install,
        "tensorboardX.writer": writers.install,
        "torch._dynamo.trace_rules": _keep_the_compiler_out,
    }


def _both(first: Install, second: Install) -> Install:
    def then(module: ModuleType) -> None:
        first(module)
        second(module)

    return then


def _safely(probe: Probe, name: str, install: Install) -> Install:
    def then(module: ModuleType) -> None:
        probe.guard.run(f"install {name}", install, module)

    return then


def _keep_the_compiler_out(module: ModuleType) -> None:
    """torch.compile must not trace our wrappers: it skips their frames and compiles what they call, as without them."""
    module.add("trainer_agent.rank")
