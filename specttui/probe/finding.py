"""Where each phase of a target is called in a worker class, and which calls to hook for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from specttui.probe.calls import Call, WorkerClass
from specttui.probe.targets import TARGET_FORWARD, VERIFY_KEYWORDS, Target

#: Roles that are not phases themselves, with the phase they show up as.
SHOWN_AS = {"verify_part": "verify", "inline_extend": "draft_extend"}
#: What a complete worker shows, in the order of the screen.
EXPECTED = (
    "draft", "verify", "target_forward", "accept", "draft_extend", "kv", "prefill_target", "prefill_draft",
    "accept_counts",
)  # fmt: skip
_ALLOCATOR = "token_to_kv_pool_allocator"
#: Until 0.4.3 the pool of KV entries gave out its slots itself.
_OLD_ALLOCATOR_CALLS = (".token_to_kv_pool.alloc", ".token_to_kv_pool.free")


@dataclass(frozen=True, slots=True)
class Finding:
    """A phase's place in the file: line (from 1) and the call's text."""

    line: int
    call: str

    def __str__(self) -> str:
        """As it stands in a preview."""
        return f"line {self.line}: {self.call}"


@dataclass(slots=True)
class Phases:
    """Phases found and missing, and the calls to hook as (role, path)."""

    found: dict[str, Finding] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    hooks: tuple[tuple[str, str], ...] = ()


def find_phases(worker: WorkerClass, cycle_method: str, target: Target) -> Phases:
    """Look for a target's calls in the class.

    Args:
        worker: The class that defines the cycle method.
        cycle_method: The method the scheduler calls.
        target: The family's vocabulary.
    """
    outer = worker.calls(*worker.outer(cycle_method))
    inside = worker.calls(*worker.reachable(cycle_method))
    phases = Phases()
    roles: dict[str, str] = {}
    for role, callees in target.calls.items():
        calls = [call for call in inside if call.method == "verify"] if role == "inline_extend" else outer
        for call in _calls_of(calls, callees, cycle_method, last=role == "draft_extend"):
            roles.setdefault(hook_path(call.callee), role)
            if role != "close":
                phases.found.setdefault(SHOWN_AS.get(role, role), Finding(call.line, call.callee))
    _find_target(phases, worker, cycle_method, target)
    _find_verify_in_parts(phases, target)
    _find_kv(phases, worker, cycle_method, target)
    _find_counts(phases, worker, cycle_method, target)
    roles.setdefault(hook_path(TARGET_FORWARD), "target_forward")
    phases.hooks = tuple((role, path) for path, role in roles.items())
    for phase in EXPECTED:
        if phase not in phases.found:
            phases.missing[phase] = target.missing.get(phase, _why_missing(phase, target))
    phases.found = {phase: phases.found[phase] for phase in EXPECTED if phase in phases.found}
    return phases


def hook_path(callee: str) -> str:
    """A call's text as the block's path: attributes from the worker, or "::name" in the module."""
    return callee.removeprefix("self.") if callee.startswith("self.") else f"::{callee}"


def _calls_of(
    calls: Iterable[Call], callees: tuple[str, ...], cycle_method: str, *, last: bool
) -> list[Call]:
    """One call of each callee, in the table's order: in the cycle method rather than in a helper.

    Where a callee serves prefill too, its prefill stands first in the method: `last` takes the other one.
    """
    chosen = []
    for callee in callees:
        candidates = [call for call in calls if call.callee == callee]
        direct = [call for call in candidates if call.method == cycle_method] or candidates
        chosen.extend(direct[-1:] if last else direct[:1])
    return chosen


def _find_target(phases: Phases, worker: WorkerClass, cycle_method: str, target: Target) -> None:
    """The target's forward: in verify, or where another file calls it; and in prefill."""
    outer = worker.outer(cycle_method)
    for call in worker.calls(*worker.reachable(cycle_method)):
        if call.callee != TARGET_FORWARD:
            continue
        verifies = call.method == "verify" or call.keywords & VERIFY_KEYWORDS
        if verifies:
            phases.found.setdefault("target_forward", Finding(call.line, call.callee))
        elif call.method in outer:
            phases.found.setdefault("prefill_target", Finding(call.line, call.callee))
    verify = phases.found.get("verify")
    if "target_forward" in target.elsewhere and verify is not None:
        text = f"{TARGET_FORWARD}, {target.elsewhere['target_forward']}"
        phases.found.setdefault("target_forward", Finding(verify.line, text))


def _find_verify_in_parts(phases: Phases, target: Target) -> None:
    """Where verify is no call of its own it begins with the target's forward; the rest of it is accept."""
    forward = phases.found.get("target_forward")
    if forward is None:
        return
    if "verify" not in target.calls:
        phases.found.setdefault("verify", Finding(forward.line, f"from {forward.call}"))
    if "verify" in phases.found:
        line = phases.found["verify"].line
        phases.found["accept"] = Finding(line, "end of target forward to end of verify")


def _find_kv(phases: Phases, worker: WorkerClass, cycle_method: str, target: Target) -> None:
    """The allocator's calls in the cycle, as far as this file names the allocator."""
    methods = worker.reachable(cycle_method)
    lines = worker.mentions(_ALLOCATOR, methods)
    lines += [call.line for call in worker.calls(*methods) if call.callee.endswith(_OLD_ALLOCATOR_CALLS)]
    if lines:
        phases.found["kv"] = Finding(min(lines), "calls of the KV slots' allocator")
    elif "kv" in target.elsewhere:
        text = f"calls of the KV slots' allocator, {target.elsewhere['kv']}"
        phases.found["kv"] = Finding(worker.methods[cycle_method].lineno, text)


def _find_counts(phases: Phases, worker: WorkerClass, cycle_method: str, target: Target) -> None:
    """The way in which accepted counts will come, as far as this file tells."""
    callback = worker.methods.get("on_verify_complete_cpu")
    line = worker.methods[cycle_method].lineno
    if "callback" in target.acceptance and callback is not None:
        phases.found["accept_counts"] = Finding(callback.lineno, "on_verify_complete_cpu")
    elif "callback" in target.acceptance:
        text = "on_verify_complete_cpu if a base class has it, else the result once it is copied"
        phases.found["accept_counts"] = Finding(line, text)
    elif "verify" in target.acceptance and "verify" in phases.found:
        phases.found["accept_counts"] = Finding(phases.found["verify"].line, "list in the result of verify")
    elif "result" in target.acceptance:
        phases.found["accept_counts"] = Finding(line, "list or sum in the result of the cycle")


def _why_missing(phase: str, target: Target) -> str:
    if phase == "kv":
        return "the scheduler allocates this worker's slots, outside the cycle"
    callees = target.calls.get(phase, ())
    if callees:
        return f"no call of {' or '.join(callees)} in the cycle: renamed or moved"
    return "this worker has no such call"
