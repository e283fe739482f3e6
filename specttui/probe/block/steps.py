"""Single draft steps: timed where they run eagerly, or through events captured into the draft graph.

Under graph replay a step cannot be seen from outside. Events made with `external=True` and recorded while
the graph is captured are recorded again by every replay, and are read before the next one. There is one set
per number of steps and captured batch size. Graphs are captured before the first cycle, so the draft
runner's forward is hooked during `init_cuda_graphs`, and only then. Off unless asked for.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, Callable, Dict, List, Optional, Tuple

from specttui.probe.block.clocks import _specttui_torch
from specttui.probe.block.cycle import _SpecttuiCycle
from specttui.probe.block.hooks import _SpecttuiHooks
from specttui.probe.block.roles import _SpecttuiRole
from specttui.probe.block.words import _SPECTTUI_IN_DRAFT, _SPECTTUI_IN_STEP

# The draft model's runner, seen from the object that owns the draft graphs.
_SPECTTUI_OWN_RUNNERS = ("draft_model_runner", "draft_runner")
# The forward that a step calls, seen from the worker: the runner's, or in older releases the model's.
_SPECTTUI_STEP_PATHS = (
    "draft_worker.draft_runner.forward",
    "draft_worker.draft_runner.model.forward",
    "draft_model_runner.forward",
    "draft_model_runner.model.forward",
)


class _SpecttuiStepRole(_SpecttuiRole):
    """A forward of the draft model that runs eagerly inside the draft."""

    def __init__(self) -> None:
        super().__init__(-1, _SPECTTUI_IN_STEP, _SPECTTUI_IN_STEP)

    def enter(self, cycle: _SpecttuiCycle, keywords: Dict[str, Any]) -> int:
        return super().enter(cycle, keywords) if cycle.open & _SPECTTUI_IN_DRAFT else -1

    def leave(self, cycle: _SpecttuiCycle, start: int, _result: Any) -> int:
        end: int = cycle.clock.finish(cycle)
        cycle.open &= ~self.bit
        cycle.step_spans.append((start, end))
        return end


class _SpecttuiDraftSteps:
    """Event pairs of the captured graphs, and the sums of what was read since the last line."""

    def __init__(self) -> None:
        self.sets: Dict[Tuple[int, int], List[Tuple[Any, Any]]] = {}
        self.reason = "no draft graph was captured with events, and no step has run eagerly"
        self.inside = False
        self.sums: List[float] = []
        self.counts: List[int] = []

    def open(self, owner: Any, args: Tuple[Any, ...]) -> Optional[Tuple[Any, Any]]:
        """Begin a draft forward; a recorded start event if its graph is being captured, else None."""
        torch = _specttui_torch()
        batch = next((value for value in args if hasattr(value, "forward_mode")), None)
        if self.inside or torch is None or batch is None or not batch.forward_mode.is_decode():
            return None
        if not torch.cuda.is_current_stream_capturing():
            return None
        try:
            start, end = [torch.cuda.Event(enable_timing=True, external=True) for _ in range(2)]
        except TypeError:
            self.reason = "this torch has no events that can be recorded in a graph"
            return None
        start.record()
        steps = int(owner.speculative_num_steps)
        captured = self.sets.setdefault((steps, int(batch.batch_size)), [])
        captured.append((start, end))
        del captured[: 1 - steps]  # a graph that is captured again replaces the first
        return start, end

    def read(self, cycle: _SpecttuiCycle) -> None:
        """Read the steps of a cycle's replay; a set that is being recorded again is left alone."""
        sizes = [size for steps, size in self.sets if steps == cycle.steps and size >= cycle.batch]
        pairs = self.sets[(cycle.steps or 0, min(sizes))] if sizes else []
        if pairs and all([end.query() for _, end in pairs]):
            self.add([start.elapsed_time(end) for start, end in pairs])

    def add(self, times: List[float]) -> None:
        """Take one cycle's steps in ms; a negative time is a pair read across two replays."""
        if any([time < 0 for time in times]):
            return
        missing = len(times) - len(self.sums)
        self.sums.extend([0.0] * missing)
        self.counts.extend([0] * missing)
        for index, time in enumerate(times):
            self.sums[index] += time
            self.counts[index] += 1

    def take(self) -> List[float]:
        """The mean of each step since the last call, in ms."""
        means = [total / count for total, count in zip(self.sums, self.counts)]
        self.sums, self.counts = [], []
        return means


def _specttui_wants_steps(settings: Dict[str, Any]) -> bool:
    """Whether single draft steps are asked for."""
    return bool(settings.get("draft_steps")) or os.environ.get("SPECTTUI_PROBE_DRAFT_STEPS") == "1"


def _specttui_watch_captures(probe: Any) -> None:
    """Wrap `init_cuda_graphs` of every class of the module that owns a loop of draft steps."""
    for owner in list(probe.namespace.values()):
        names = vars(owner) if isinstance(owner, type) else {}
        if "draft_forward" in names and "init_cuda_graphs" in names:
            original = names["init_cuda_graphs"]
            probe.hooks.put(owner, "init_cuda_graphs", _specttui_capturing(probe.draft_steps, original))


def _specttui_capturing(steps: _SpecttuiDraftSteps, original: Callable[..., Any]) -> Callable[..., Any]:
    """The capture of the draft graphs, with the draft runner's forward hooked as long as it lasts."""

    def _specttui_init_cuda_graphs(owner: Any, *args: Any, **kwargs: Any) -> Any:
        hooks = _SpecttuiHooks()
        with suppress(Exception):
            _specttui_hook_runner(hooks, steps, owner)
        try:
            return original(owner, *args, **kwargs)
        finally:
            hooks.restore_all()

    return _specttui_init_cuda_graphs


def _specttui_hook_runner(hooks: _SpecttuiHooks, steps: _SpecttuiDraftSteps, owner: Any) -> None:
    """Hook the draft runner's forward and its model's: releases differ in which one a step calls."""
    runners = [getattr(owner, name, None) for name in _SPECTTUI_OWN_RUNNERS]
    for runner in [runner for runner in runners if runner is not None][:1]:
        for holder in (runner, runner.model):
            hooks.put(holder, "forward", _specttui_captured_step(steps, owner, holder.forward))


def _specttui_captured_step(
    steps: _SpecttuiDraftSteps, owner: Any, original: Callable[..., Any]
) -> Callable[..., Any]:
    """A forward that leaves an event pair in the graph being captured."""

    def _specttui_step(*args: Any, **kwargs: Any) -> Any:
        pair = None
        with suppress(Exception):
            pair = steps.open(owner, args)
        if pair is None:
            return original(*args, **kwargs)
        steps.inside = True
        try:
            return original(*args, **kwargs)
        finally:
            steps.inside = False
            with suppress(Exception):
                pair[1].record()

    return _specttui_step
