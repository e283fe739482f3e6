"""What the probe costs the CPU per cycle: our own Python, with stand-ins for torch's events.

Runs a worker of ours shaped like SGLang's EAGLE v1 and v2 whose calls do nothing, plain and patched, in
`events` mode with every phase hooked; the difference is ours. The stand-in events cost one Python call
each, as a floor for torch's; `--torch` takes the machine's own torch and GPU instead.
Usage: python benchmarks/probe.py [--torch] [CYCLES] [REPEATS]
"""

from __future__ import annotations

import importlib
import os
import sys
import types
from pathlib import Path
from time import thread_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.fake_workers import EAGLE_V1, EAGLE_V2, load_worker

from specttui.events import Clock
from specttui.probe import apply


class StandInEvent:
    """An event that is done at once."""

    def __init__(self, enable_timing: bool = False) -> None:
        self.enable_timing = enable_timing

    def record(self, stream: object = None) -> None:
        """Nothing to record."""

    def query(self) -> bool:
        """Always done."""
        return True

    def elapsed_time(self, _other: StandInEvent) -> float:
        """Some milliseconds."""
        return 1.234


def stand_in_torch() -> types.ModuleType:
    """The part of torch that the probe uses."""
    torch = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(  # type: ignore[attr-defined]
        Event=StandInEvent,
        is_available=lambda: True,
        is_current_stream_capturing=lambda: False,
        current_stream=lambda: None,
        synchronize=lambda: None,
    )
    return torch


class Mode:
    """A decode step."""

    def is_extend(self) -> bool:
        """It is none."""
        return False

    def is_decode(self) -> bool:
        """It is one."""
        return True


def microseconds(call: Any, cycles: int, repeats: int) -> float:
    """CPU time of one call, the best of the repeats: other programs only ever add to it."""
    times = []
    for _ in range(repeats):
        start = thread_time()
        for _ in range(cycles):
            call()
        times.append((thread_time() - start) / cycles * 1e6)
    return min(times)


def cycle_of(source: str, class_name: str, clock: Clock | None) -> tuple[Any, Any]:
    """One decode cycle as a call, patched with a clock or plain; and the module's names."""
    text: str | bytes = source
    if clock is not None:
        text = apply(source.encode(), session_id="bench", utc="", clock=clock)
    loaded = load_worker(text, class_name, lambda _: None)
    if clock is not None:  # every cycle is timed: the question is what a timed one costs
        loaded.namespace["_specttui_probe"].rest = lambda _now: None
    batch = types.SimpleNamespace(
        forward_mode=Mode(), is_extend_in_batch=False, accepted=[2, 1, 0, 3], seq_lens=[1, 2, 3, 4]
    )
    worker, method = loaded.worker, loaded.method
    counts = list(batch.accepted)
    report = getattr(worker, "on_verify_complete_cpu", None)

    def cycle() -> None:
        getattr(worker, method)(batch)

    def reported_cycle() -> None:
        getattr(worker, method)(batch)
        worker.on_verify_complete_cpu(counts)
        worker.completed.clear()

    return (cycle if report is None else reported_cycle), loaded


def empty_wrapped_call() -> Any:
    """A method around which a wrapper does nothing: the least that any hook costs."""

    def original(_worker: Any, _batch: Any) -> None:
        return None

    def wrapper(worker: Any, *args: Any, **kwargs: Any) -> Any:
        return original(worker, *args, **kwargs)

    return lambda: wrapper(None, None)


def main() -> None:
    """Print one line per worker and clock."""
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    cycles, repeats = (*numbers, *(4000, 15)[len(numbers) :])
    if "--torch" in sys.argv[1:]:
        torch = importlib.import_module("torch")
        torch.cuda.init()
    else:
        sys.modules["torch"] = stand_in_torch()
    empty_us = microseconds(empty_wrapped_call(), cycles, repeats)
    print(f"empty wrapped call {empty_us:.3f} us")
    with Path(os.devnull).open("w") as sink:
        sys.__stdout__ = sink  # type: ignore[misc]
        for source, class_name, phases in (
            (EAGLE_V2, "EAGLEWorkerV2", "draft, verify, target_forward, accept, draft_extend, counts"),
            (EAGLE_V1, "EAGLEWorker", "the same and two calls of kv"),
        ):
            plain_us = microseconds(cycle_of(source, class_name, None)[0], cycles, repeats)
            for clock in (Clock.EVENTS, Clock.WALL, Clock.OFF):
                cycle, loaded = cycle_of(source, class_name, clock)
                cycle()
                own_us = microseconds(cycle, cycles, repeats) - plain_us
                assert not loaded.namespace["_specttui_probe"].dead
                ratio = own_us / empty_us
                print(
                    f"{class_name:14} {clock.value:7} {own_us:6.2f} us per cycle, "
                    f"{ratio:6.1f} empty wrapped calls ({phases})"
                )


if __name__ == "__main__":
    main()
