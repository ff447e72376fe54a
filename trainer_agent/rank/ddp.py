"""What DistributedDataParallel knows: whether a backward synchronises, bytes and buckets, its own timers."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from trainer_agent.rank.clock import CudaClock
from trainer_agent.rank.deep import DeepHook
from trainer_agent.rank.graph_end import GraphEnd
from trainer_agent.rank.probe import Probe
from trainer_agent.rank.segment import Segment
from trainer_agent.wire.record import FLAG_COMM_MEASURED


@dataclass(slots=True, eq=False)
class DdpModel:
    """One wrapped model. `nbytes` are the gradient bytes of one synchronisation."""

    ddp: weakref.ref[Any]
    on_cuda: bool
    nbytes: int
    buckets: int = 1
    iteration: int = 0  # of those that synchronise, as DDP counts them
    read_at: int = 0  # the iteration of DDP's timers when they were last read
    every: int = 1  # iterations in which DDP's timers run and are read


class DdpModels:
    """Every DDP model of the process. `waiting` are those whose gradients the next backward synchronises."""

    def __init__(self, probe: Probe, graph_end: GraphEnd, deep: DeepHook | None) -> None:
        self.waiting: list[DdpModel] = []
        self._probe = probe
        self.graph_end = graph_end
        self._deep = deep
        self._met: dict[int, DdpModel] = {}  # by id, forgotten when the model is
        self._is_grad_enabled: Callable[[], bool]

    def forward_begins(self, ddp: Any) -> None:
        """The backward that follows will synchronise gradients, unless inside `no_sync` or without gradients."""
        model = self._met.get(id(ddp)) or self._meet(ddp)
        waits = ddp.require_backward_grad_sync and self._is_grad_enabled()
        model.iteration += waits
        if waits != (model in self.waiting):
            (self.waiting.append if waits else self.waiting.remove)(model)

    def _meet(self, ddp: Any) -> DdpModel:
        import torch

        self._is_grad_enabled = torch.is_grad_enabled
        gradients = [p for p in ddp.parameters() if p.requires_grad]
        model = DdpModel(
            ddp=weakref.ref(ddp, partial(self._forget, id(ddp))),
            on_cuda=any(p.is_cuda for p in gradients),
            nbytes=sum(p.numel() * p.element_size() for p in gradients),
        )
        self._met[id(ddp)] = model
        if model.on_cuda:
            use_cuda_clock(self._probe)
        else:
            self._probe.guard.run("ddp_timers", ddp._set_ddp_runtime_logging_sample_rate, model.every)
        self._probe.guard.run("watch", self.graph_end.watch, ddp)
        if self._deep is not None:
            self._probe.guard.run("deep", self._deep.register, ddp)
        return model

    def backward_ended(self) -> None:
        """Gradients of every model that waited for it are synchronised."""
        models, self.waiting, segment = self.waiting, [], self._probe.timeline.segment
        assert segment is not None  # backward has begun it
        for model in models:
            if model.iteration % model.every == 0:
                self._probe.guard.run("ddp_timers", self._read_timers, model.ddp(), model, segment)
            segment.nbytes += model.nbytes
            segment.buckets += model.buckets

    def _forget(self, key: int, _: Any) -> None:
        model = self._met.pop(key, None)
        self.waiting = [other for other in self.waiting if other is not model]

    def _read_timers(self, ddp: Any, model: DdpModel, segment: Segment) -> None:
        """They cost nearly as much to take as to read, so DDP takes them in the iterations in which they are read."""
        every = self._probe.recorder.pace.period
        if not model.on_cuda:  # on CUDA this would wait for the device
            ddp.logger.set_runtime_stats_and_log()
        data = ddp._get_ddp_logging_data()
        sizes = data.get("rebuilt_bucket_sizes") or data.get("bucket_sizes") or ""
        model.buckets = max(1, len(sizes.split(",")))
        if not model.on_cuda:
            if data["iteration"] > model.read_at:
                model.read_at = model.iteration = data["iteration"]
                segment.comm_total = (segment.comm_total or 0.0) + data["backward_comm_time"] / 1_000
                segment.flags |= FLAG_COMM_MEASURED
            else:  # we lost count, in a forward that raised
                every = 1
            if every != model.every:
                ddp._set_ddp_runtime_logging_sample_rate(every)
        model.every = every


def use_cuda_clock(probe: Probe) -> None:
    """Time the device's work from the next step on."""
    import torch

    if not probe.on_cuda:
        new_event = partial(torch.cuda.Event, enable_timing=True)
        probe.use_clock(CudaClock(new_event, torch.cuda.is_current_stream_capturing))
