"""What DistributedDataParallel knows: whether a backward synchronises, bytes and buckets, its own timers."""

import weakref
from dataclasses import dataclass
from functools import partial
from typing import Any

from trainer_agent.rank.clock import CudaClock
from trainer_agent.rank.deep import DeepHook
from trainer_agent.rank.probe import Probe
from trainer_agent.rank.timeline import Segment
from trainer_agent.wire.record import FLAG_COMM_MEASURED


@dataclass(slots=True)
class DdpModel:
    """One wrapped model. `nbytes` are the gradient bytes of one synchronisation."""

    ddp: weakref.ref[Any]
    on_cuda: bool
    nbytes: int
    buckets: int = 1
    iteration: int = 0  # of DDP's timers when they were last read
    waits_for_backward: bool = False
    syncs: int = 0  # since the last cut


class DdpModels:
    """Every DDP model of the process."""

    def __init__(self, probe: Probe, deep: DeepHook | None) -> None:
        self._probe = probe
        self._deep = deep
        self._models: dict[int, DdpModel] = {}  # by id, forgotten when the model is
        probe.before_step.append(self._add_to)

    def meet(self, ddp: Any) -> None:
        """A forward of this model begins."""
        if id(ddp) in self._models:
            return
        gradients = [p for p in ddp.parameters() if p.requires_grad]
        model = DdpModel(
            ddp=weakref.ref(ddp, partial(self._forget, id(ddp))),
            on_cuda=any(p.is_cuda for p in gradients),
            nbytes=sum(p.numel() * p.element_size() for p in gradients),
        )
        self._models[id(ddp)] = model
        if model.on_cuda:
            use_cuda_clock(self._probe)
        else:
            self._probe.guard.run("ddp_timers", ddp._set_ddp_runtime_logging_sample_rate, 1)
        if self._deep is not None:
            self._probe.guard.run("deep", self._deep.register, ddp)

    def forward_ended(self, ddp: Any) -> None:
        """The backward that follows will synchronise gradients, unless inside `no_sync` or without gradients."""
        import torch

        self._models[id(ddp)].waits_for_backward = torch.is_grad_enabled() and ddp.require_backward_grad_sync

    def will_sync(self) -> bool:
        """Whether the backward that begins now synchronises gradients."""
        return any(model.waits_for_backward for model in self._models.values())

    def backward_ended(self) -> None:
        """Gradients of every model that waited for it are synchronised."""
        for model in self._models.values():
            if model.waits_for_backward:
                model.waits_for_backward = False
                model.syncs += 1

    def _forget(self, key: int, _: Any) -> None:
        self._models.pop(key, None)

    def _add_to(self, segment: Segment) -> None:
        for model in self._models.values():
            if model.syncs:
                if self._probe.recorder.reads_ddp_timers():
                    self._probe.guard.run("ddp_timers", self._read_timers, model.ddp(), model, segment)
                segment.nbytes += model.nbytes * model.syncs
                segment.buckets += model.buckets * model.syncs
                model.syncs = 0

    def _read_timers(self, ddp: Any, model: DdpModel, segment: Segment) -> None:
        if not model.on_cuda:  # on CUDA this would wait for the device
            ddp.logger.set_runtime_stats_and_log()
        data = ddp._get_ddp_logging_data()
        sizes = data.get("rebuilt_bucket_sizes") or data.get("bucket_sizes") or ""
        model.buckets = max(1, len(sizes.split(",")))
        if not model.on_cuda and data["iteration"] > model.iteration:
            model.iteration = data["iteration"]
            segment.comm_total = (segment.comm_total or 0.0) + data["backward_comm_time"] / 1_000
            segment.flags |= FLAG_COMM_MEASURED


def use_cuda_clock(probe: Probe) -> None:
    """Time the device's work from the next step on."""
    import torch

    if not probe.on_cuda:
        new_event = partial(torch.cuda.Event, enable_timing=True)
        probe.use_clock(CudaClock(new_event, torch.cuda.is_current_stream_capturing))
