"""Phases nest, their times add up, and a device's marks are read only once they are there."""

from dataclasses import dataclass, field

from trainer_agent.rank.clock import CpuClock, CudaClock
from trainer_agent.rank.recorder import Recorder
from trainer_agent.rank.segment import (
    BACKWARD,
    DATA,
    EXPOSED_COMM,
    FORWARD,
    MAX_MARKS,
    OPTIMIZER,
    OTHER,
    DeviceSegment,
    Segment,
)
from trainer_agent.rank.timeline import Timeline


class HandClock(CpuClock):
    """Moved on by the test, in microseconds."""

    def __init__(self) -> None:
        self.us_now = 0

    def now(self) -> int:
        return self.us_now * 1_000

    def pass_us(self, us: int) -> None:
        self.us_now += us


@dataclass
class Device:
    """A stand-in for a GPU: its stream reaches recorded events when the test lets it."""

    time: float = 0.0  # ms
    reached: int = 0
    recorded: int = 0
    made: int = 0
    is_capturing: bool = False

    def new_event(self) -> "Event":
        self.made += 1
        return Event(self)

    def capturing(self) -> bool:
        return self.is_capturing

    def finish(self) -> None:
        self.reached = self.recorded


@dataclass
class Event:
    device: Device
    at: float = 0.0
    place: int = field(default=0)

    def record(self) -> None:
        self.device.recorded += 1
        self.place, self.at = self.device.recorded, self.device.time

    def query(self) -> bool:
        return self.place <= self.device.reached

    def elapsed_time(self, end: "Event") -> float:
        assert self.query()
        assert end.query(), "read before the device was there"
        return end.at - self.at


def cut(timeline: Timeline) -> Segment:
    segment = timeline.cut()
    assert segment is not None
    return segment


def taken(segment: Segment, phase: int) -> int:
    return segment.ns[phase] // 1_000


def test_nothing_is_cut_before_a_phase_has_begun() -> None:
    assert Timeline(HandClock()).cut() is None


def test_time_belongs_to_the_innermost_phase_and_adds_up() -> None:
    clock = HandClock()
    timeline = Timeline(clock)
    for phase, us in ((OPTIMIZER, 5), (FORWARD, 30), (DATA, 7)):
        timeline.enter(phase)
        clock.pass_us(us)
    timeline.leave()
    clock.pass_us(2)
    timeline.leave()
    timeline.leave()
    clock.pass_us(11)
    segment = cut(timeline)
    assert segment.resolve()
    assert [taken(segment, phase) for phase in (DATA, FORWARD, OPTIMIZER, OTHER)] == [7, 32, 5, 11]
    assert sum(segment.ns) == clock.now()


def test_backward_becomes_waiting_where_its_own_part_ends() -> None:
    clock = HandClock()
    timeline = Timeline(clock)
    timeline.enter(BACKWARD)
    clock.pass_us(40)
    timeline.become(EXPOSED_COMM)
    clock.pass_us(15)
    timeline.leave()
    segment = cut(timeline)
    segment.resolve()
    assert (taken(segment, BACKWARD), taken(segment, EXPOSED_COMM)) == (40, 15)


def test_an_open_phase_goes_on_after_the_cut() -> None:
    clock = HandClock()
    timeline = Timeline(clock)
    timeline.enter(FORWARD)
    clock.pass_us(3)
    cut(timeline)
    clock.pass_us(4)
    timeline.leave()
    second = cut(timeline)
    second.resolve()
    assert taken(second, FORWARD) == 4


def test_a_step_with_more_marks_than_are_kept_is_still_exact_on_the_cpu() -> None:
    clock = HandClock()
    timeline = Timeline(clock)
    for _ in range(MAX_MARKS):
        timeline.enter(EXPOSED_COMM)
        clock.pass_us(2)
        timeline.leave()
        clock.pass_us(1)
    segment = cut(timeline)
    assert taken(segment, EXPOSED_COMM) == 2 * MAX_MARKS


def device_timeline() -> tuple[Device, Timeline]:
    device = Device()
    return device, Timeline(CudaClock(device.new_event, device.capturing))


def device_step(device: Device, timeline: Timeline) -> Segment:
    timeline.enter(FORWARD)
    device.time += 2.0
    timeline.leave()
    return cut(timeline)


def test_device_time_is_read_after_the_device_was_there_and_never_waited_for() -> None:
    device, timeline = device_timeline()
    segment = device_step(device, timeline)
    assert not segment.resolve()
    device.finish()
    assert segment.resolve()
    assert taken(segment, FORWARD) == 2_000


def test_steps_of_a_device_are_written_in_order_as_they_become_readable() -> None:
    device, timeline = device_timeline()
    recorder = Recorder()
    first, second = device_step(device, timeline), device_step(device, timeline)
    recorder.add(first)
    recorder.add(second)
    assert recorder.waiting == 2
    device.finish()
    recorder.drain()
    assert recorder.waiting == 0
    assert (taken(first, FORWARD), taken(second, FORWARD)) == (2_000, 2_000)
    assert recorder.made == 2


def test_events_are_used_again() -> None:
    device, timeline = device_timeline()
    for _ in range(100):
        segment = device_step(device, timeline)
        device.finish()
        assert segment.resolve()
    assert device.made < 10


def test_a_device_that_never_arrives_costs_detail_and_not_memory() -> None:
    device, timeline = device_timeline()
    for _ in range(3 * MAX_MARKS):
        timeline.enter(FORWARD)
        timeline.leave()
    assert isinstance(timeline.segment, DeviceSegment)
    assert len(timeline.segment.marks) <= MAX_MARKS + 1
    assert device.made <= 2 * MAX_MARKS


def test_no_event_is_recorded_while_a_graph_is_captured() -> None:
    device, timeline = device_timeline()
    device_step(device, timeline)
    recorded, device.is_capturing = device.recorded, True
    captured = device_step(device, timeline)
    assert device.recorded == recorded
    device.is_capturing = False
    after = device_step(device, timeline)
    device.finish()
    assert captured.resolve()
    assert after.resolve()
    assert taken(after, FORWARD) == 2_000


def test_a_step_that_began_on_the_cpu_and_went_on_on_a_device_keeps_both_parts() -> None:
    clock, device = HandClock(), Device()
    timeline = Timeline(clock)
    timeline.enter(DATA)
    clock.pass_us(500)
    timeline.leave()
    timeline.use(CudaClock(device.new_event, device.capturing))
    first = cut(timeline)
    joined = first.join(device_step(device, timeline))
    device.finish()
    assert joined.resolve()
    assert (taken(joined, DATA), taken(joined, FORWARD)) == (500, 2_000)
