"""A patched worker of ours on a fake machine, and the events of what its probe wrote."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from specttui.events import PROBE_EVENT, PROBE_PREFIX, Clock
from specttui.probe import apply
from support.fake_torch import FakeMachine
from support.fake_workers import Batch, LoadedWorker, Result, load_worker

#: What each piece of work costs: (CPU ms, GPU ms).
TIMES = {
    "draft": (0.5, 1.0),
    "prepare": (0.1, 0.25),
    "target": (0.5, 5.0),
    "accept": (0.2, 0.5),
    "draft_extend": (0.3, 0.75),
    "prefill_draft": (0.4, 2.0),
    "kv": (0.05, 0.125),
}
DEFAULT_TIMES = (0.1, 0.25)


class ProbeBench:
    """Runs cycles and reads the log."""

    def __init__(self, loaded: LoadedWorker, machine: FakeMachine, log: Path) -> None:
        self.loaded = loaded
        self.machine = machine
        self.log = log

    @property
    def probe(self) -> Any:
        """The probe inside the module."""
        return self.loaded.namespace["_specttui_probe"]

    def decode(self, cycles: int, *accepted: int, gap_ms: float = 0.5, **batch: Any) -> Any:
        """Run decode cycles; between them the scheduler takes `gap_ms` of the CPU."""
        result = None
        for _ in range(cycles):
            result = self.loaded.run(Batch(list(accepted) or [2], **batch))
            self.machine.cpu(gap_ms)
        return result

    def prefill(self, tokens: int = 128, requests: int = 1) -> Any:
        """Run one prefill."""
        return self.loaded.run(Batch([0] * requests, mode="extend", extend_num_tokens=tokens))

    def flush(self) -> None:
        """Have everything that is known written, as later cycles would; missing counts are given up."""
        self.machine.synchronize()
        self.probe.previous = None
        self.probe.drain()
        for cycle in self.probe.settled:
            self.probe.acceptance.forget(cycle)
        self.probe.drain()
        self.probe.write()

    def lines(self) -> list[str]:
        """Every line of the log so far."""
        return self.log.read_text(encoding="ascii").splitlines()

    def events(self, kind: str = "") -> list[Any]:
        """The log's events, of one kind or all."""
        texts = [line.removeprefix(PROBE_PREFIX) for line in self.lines()]
        events = [PROBE_EVENT.validate_json(text) for text in texts]
        return [event for event in events if not kind or event.kind == kind]


@contextmanager
def probe_bench(
    source: str,
    class_name: str,
    folder: Path,
    *,
    clock: Clock = Clock.EVENTS,
    cuda: bool = True,
    times: dict[str, tuple[float, float]] | None = None,
    **patch: Any,
) -> Iterator[ProbeBench]:
    """Patch a worker module, load it on a fake machine, and send the probe's lines to a file."""
    machine = FakeMachine()
    table = TIMES | (times or {})
    log = folder / "server.log"

    def spend(name: str) -> None:
        cpu_ms, gpu_ms = table.get(name, DEFAULT_TIMES)
        machine.cpu(cpu_ms)
        if cuda:
            machine.gpu(gpu_ms)

    patched = _patched(source, clock=clock, **patch)
    with (
        log.open("w") as stdout,
        mock.patch.object(sys, "__stdout__", stdout),
        # The probe may hook the class of results, which tests share.
        mock.patch.object(Result, "copy_to_cpu", Result.copy_to_cpu),
        machine.running(cuda=cuda),
    ):
        yield ProbeBench(load_worker(patched, class_name, spend, machine.synchronize), machine, log)


def _patched(source: str, **options: Any) -> bytes:
    if "targets" in options:  # a user's own, which need not be hashable
        return _patched_anew(source, **options)
    return _patched_once(source, **options)


def _patched_anew(source: str, **options: Any) -> bytes:
    return apply(source.encode(), session_id="s1", utc="2026-01-01T00:00:00Z", **options)


_patched_once = functools.cache(_patched_anew)
