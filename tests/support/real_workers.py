"""Real worker files of SGLang, run with stand-ins for everything they import and for the GPU's work."""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from specttui.events import PROBE_EVENT, PROBE_PREFIX, Clock
from specttui.probe import apply, inspect
from support.fake_torch import FakeMachine
from support.fake_workers import ForwardMode
from support.permissive import Anything, permissive_imports
from support.wheels import worker_source

Spend = Callable[[str], None]
#: Accepted drafts of the two requests in every batch.
ACCEPTED = [2, 1]


class Lens(Anything):
    """The sequence lengths of two requests."""

    def __len__(self) -> int:
        return len(ACCEPTED)


@dataclass
class RealWorker:
    """A patched real module and one worker of it."""

    namespace: dict[str, Any]
    worker: Any
    method: str
    log: Path

    def decode(self) -> Any:
        """One decode cycle, and the acceptance that the scheduler reports after it."""
        result = getattr(self.worker, self.method)(batch("decode"))
        if "on_verify_complete_cpu" in vars(type(self.worker)):
            self.worker.on_verify_complete_cpu(list(ACCEPTED))
        return result

    def prefill(self) -> Any:
        """One prefill."""
        return getattr(self.worker, self.method)(batch("extend"))

    def events(self, kind: str) -> list[Any]:
        """What the probe wrote, of one kind."""
        probe = self.namespace["_specttui_probe"]
        probe.previous = None
        probe.drain()
        probe.write()
        lines = self.log.read_text().splitlines()
        events = [PROBE_EVENT.validate_json(line.removeprefix(PROBE_PREFIX)) for line in lines]
        return [event for event in events if event.kind == kind]


def batch(mode: str) -> Anything:
    """A batch of two requests."""
    requests = [Anything(), Anything()]
    return Anything(
        forward_mode=ForwardMode(mode),
        is_extend_in_batch=False,
        seq_lens=Lens(),
        spec_info=Anything(is_verify_input=lambda: False),
        reqs=requests,
        has_grammar=False,
        return_logprob=False,
        extend_num_tokens=64,
    )


def verified(spend: Spend, *_: Any, **__: Any) -> Anything:
    """What the acceptance of the synchronous workers leaves on the CPU."""
    spend("accept")
    names = (
        "accept_length_per_req_cpu",
        "num_accepted_drafts_per_req_cpu",
        "num_correct_drafts_per_req_cpu",
    )
    return Anything(**{name: list(ACCEPTED) for name in names})


def sampled(spend: Spend, *_: Any, **__: Any) -> tuple[Anything, Anything, Anything]:
    """What the acceptance of the overlapped workers leaves on the GPU."""
    spend("accept")
    return Anything(), Anything(), Anything()


def verify_input(spend: Spend) -> Anything:
    """What a draft hands to verify."""
    return Anything(
        topk=1,
        verify=lambda *args, **kwargs: verified(spend, *args, **kwargs),
        sample=lambda *args, **kwargs: sampled(spend, *args, **kwargs),
        prepare_for_v2_verify=lambda *_: (Anything(), True),
    )


def stand_in_calls(worker: Any, namespace: dict[str, Any], spend: Spend) -> None:
    """Replace the GPU's work in a worker by work on the test's clock; the cycle and verify stay real."""

    def draft(*_: Any, **__: Any) -> Anything:
        spend("draft")
        return verify_input(spend)

    def run_eagle_verify(*_: Any, target_worker: Any, **__: Any) -> Anything:
        target_worker.forward_batch_generation(None, is_verify=True)
        spend("accept")
        return Anything()

    worker._target_worker = Anything(forward_batch_generation=TargetForward(spend))
    worker._draft_worker = Anything(
        draft=draft,
        _draft_extend_for_decode=lambda *_, **__: spend("draft_extend"),
        _draft_extend_for_prefill=lambda *_, **__: spend("prefill_draft"),
    )
    cls = type(worker)
    for name in ("target_worker", "draft_worker"):
        if name not in vars(cls):  # newer releases have properties
            setattr(worker, name, getattr(worker, f"_{name}"))
    cls.draft = lambda _self, *args: draft(*args)
    cls.forward_draft_extend = lambda *_: spend("prefill_draft")
    cls.forward_draft_extend_after_decode = lambda *_: spend("draft_extend")
    worker.speculative_num_steps = 3
    worker.topk = 1
    worker.enable_nan_detection = False
    worker.plan_stream = worker.adaptive_controller = None
    namespace["run_eagle_verify"] = run_eagle_verify
    namespace["get_parallel"] = lambda: Anything(pp_size=1)


class TargetForward:
    """The target's forward."""

    def __init__(self, spend: Spend) -> None:
        self.spend = spend

    def __call__(self, *_: Any, **__: Any) -> Any:
        self.spend("target")
        return TargetResult()


class TargetResult(Anything):
    """A result with any attribute, which older releases unpack into three."""

    def __iter__(self) -> Iterator[Any]:
        return iter((Anything(), Anything(), Anything()))


@contextmanager
def real_worker(
    version: str, name: str, folder: Path, spend: Spend, clock: Clock, machine: FakeMachine | None = None
) -> Iterator[RealWorker]:
    """Patch a real worker file, execute it, and make a worker without its constructor.

    Args:
        version: SGLang release.
        name: File below sglang/srt/speculative.
        folder: For the log.
        spend: Called with the name of each piece of work.
        clock: The probe's clock.
        machine: Whose clocks `torch` and `time.perf_counter` are; None for the real CPU's.
    """
    source = worker_source(version, name)
    inspection = inspect(source)
    module = types.ModuleType("sglang.srt.speculative." + name.removesuffix(".py"))
    log = folder / "server.log"
    patched = apply(source, session_id="s", utc="u", clock=clock)
    with log.open("w") as stdout, mock.patch.object(sys, "__stdout__", stdout), permissive_imports():
        exec(compile(patched, name, "exec"), module.__dict__)
        cls = module.__dict__[inspection.worker_class]
        worker = cls.__new__(cls)
        stand_in_calls(worker, module.__dict__, spend)
        real = RealWorker(module.__dict__, worker, inspection.cycle_method, log)
        if machine is None:
            yield real
        else:
            with machine.running():
                yield real


def sleeper(times_s: dict[str, float]) -> Spend:
    """Work that takes the CPU's real time."""
    return lambda name: time.sleep(times_s[name])
