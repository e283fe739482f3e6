"""A machine with one CPU clock and one GPU queue, and a `torch` that measures it: exact figures in tests.

`FakeMachine.cpu` lets the CPU's time pass, `FakeMachine.gpu` enqueues GPU work. An event's time is when the
GPU reaches it; it is done once the CPU's clock has passed that time, as on a real stream.
"""

from __future__ import annotations

import sys
import time
import types
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock


class FakeMachine:
    """Times in ms since its start."""

    def __init__(self) -> None:
        self.cpu_ms = 1000.0
        self.gpu_ms = 0.0
        self.capturing = False
        self.stream = "stream"
        self.synchronisations = 0
        self.record_ms = 0.0  # what an event costs the CPU
        self.events: list[FakeEvent] = []
        self.calls: Counter[str] = Counter()

    def cpu(self, milliseconds: float) -> None:
        """The CPU works or sleeps."""
        self.cpu_ms += milliseconds

    def gpu(self, milliseconds: float) -> None:
        """Work is put into the GPU's queue; it starts when the queue gets there."""
        self.gpu_ms = max(self.gpu_ms, self.cpu_ms) + milliseconds

    def synchronize(self) -> None:
        """The CPU waits until the queue is empty."""
        self.synchronisations += 1
        self.cpu_ms = max(self.cpu_ms, self.gpu_ms)

    def perf_counter(self) -> float:
        """The CPU's clock in seconds."""
        return self.cpu_ms / 1e3

    @contextmanager
    def running(self, *, cuda: bool = True) -> Iterator[types.ModuleType]:
        """Be the machine that `time.perf_counter` and `torch` (in sys.modules) are about."""
        torch = fake_torch(self)
        modules = {"torch": torch if cuda else None}
        with (
            mock.patch.dict(sys.modules, modules),
            mock.patch.object(time, "perf_counter", self.perf_counter),
        ):
            if not cuda:
                del sys.modules["torch"]
            yield torch


class FakeEvent:
    """Stands in for torch.cuda.Event."""

    def __init__(self, machine: FakeMachine, *, enable_timing: bool = False, external: bool = False) -> None:
        assert enable_timing, "an event without timing cannot be read"
        self.machine = machine
        self.external = external
        self.time_ms: float | None = None
        machine.events.append(self)

    def record(self, stream: object = None) -> None:
        """Mark the end of the queue."""
        self.machine.calls["record"] += 1
        self.machine.cpu(self.machine.record_ms)
        assert not self.machine.capturing or self.external, "recorded while a graph is captured"
        self.time_ms = max(self.machine.gpu_ms, self.machine.cpu_ms)

    def query(self) -> bool:
        """Whether the GPU has passed the event."""
        self.machine.calls["query"] += 1
        return self.time_ms is None or self.time_ms <= self.machine.cpu_ms

    def elapsed_time(self, other: FakeEvent) -> float:
        """Milliseconds to another event; both must have passed, as in CUDA."""
        self.machine.calls["elapsed_time"] += 1
        assert self.time_ms is not None
        assert other.time_ms is not None
        assert max(self.time_ms, other.time_ms) <= self.machine.cpu_ms, "read before it was done"
        return other.time_ms - self.time_ms


def fake_torch(machine: FakeMachine) -> types.ModuleType:
    """A module with the part of torch.cuda that the probe uses."""
    torch = types.ModuleType("torch")

    def event(**options: bool) -> FakeEvent:
        return FakeEvent(machine, **options)

    def capturing() -> bool:
        machine.calls["is_current_stream_capturing"] += 1
        return machine.capturing

    def stream() -> str:
        machine.calls["current_stream"] += 1
        return machine.stream

    torch.cuda = types.SimpleNamespace(  # type: ignore[attr-defined]
        Event=event,
        is_available=lambda: True,
        is_current_stream_capturing=capturing,
        current_stream=stream,
        current_device=lambda: 0,
        synchronize=machine.synchronize,
    )
    return torch
