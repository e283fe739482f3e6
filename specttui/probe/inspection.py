"""What a worker file is and what the probe would see in it: the check before anything is written."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from specttui.events import FileState
from specttui.probe.calls import Call, WorkerClass, imported_from, worker_classes
from specttui.probe.finding import Finding, find_phases
from specttui.probe.marker import Marker, digest, read_markers
from specttui.probe.targets import CYCLE_METHODS, TARGETS, Target

_WORKER_ENDINGS = ("Worker", "WorkerV2")


@dataclass(frozen=True, slots=True)
class Inspection:
    """A worker file, read.

    Attributes:
        state: Original, patched, foreign, or unknown (it is no Python that we can read).
        path: As given, for messages.
        family: Worker family, "" if the file holds no worker that the table knows.
        worker_class: The class whose cycle method is timed, or that inherits it.
        cycle_method: The method the scheduler calls, "" if this file does not define it.
        cycle_module: The module that holds the cycle when the class inherits it from another file.
        found: Phase (or "accept_counts") to where it is called.
        missing: Phase to the reason why it will not be seen.
        hooks: Role and path of each call to hook, as the block takes them.
        acceptance: Ways in which accepted counts reach the CPU.
        candidates: For an unknown worker, the classes and calls that were seen.
        marker: What the block's first line says, if there is a block.
        reason: Why the state is foreign or unknown.
        sha256: Of the file as given.
        size: Of the file as given, in bytes.
    """

    state: FileState
    path: str = ""
    family: str = ""
    worker_class: str = ""
    cycle_method: str = ""
    cycle_module: str = ""
    found: Mapping[str, Finding] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    hooks: tuple[tuple[str, str], ...] = ()
    acceptance: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    marker: Marker | None = None
    reason: str = ""
    sha256: str = ""
    size: int = 0

    @property
    def can_patch(self) -> bool:
        """True when the block can go into this file and would time a cycle."""
        return self.state is FileState.ORIGINAL and bool(self.cycle_method)


def inspect(
    source: bytes, path: str = "", worker: str = "", targets: Sequence[Target] = TARGETS
) -> Inspection:
    """Read a worker file: state, family, class, and the phases found and missing. Never fails.

    Args:
        source: The file's bytes; a patched file is inspected without its block.
        path: Where it came from, for messages.
        worker: The class to look at, if the file holds several; "" takes the first that fits.
        targets: The table; put a user's own targets (`custom_target`) before it.
    """
    reading = read_markers(source)
    original = source if reading.original is None else reading.original
    about = {"path": path, "marker": reading.marker, "sha256": digest(source), "size": len(source)}
    try:
        tree = ast.parse(original)
    except (SyntaxError, ValueError, RecursionError) as error:
        state = FileState.FOREIGN if reading.state is FileState.FOREIGN else FileState.UNKNOWN
        reason = reading.reason or f"not Python that can be read here: {error}"
        return Inspection(state, reason=reason, **about)  # type: ignore[arg-type]
    seen = _look(tree, worker, targets)
    return Inspection(reading.state, reason=reading.reason, **about, **seen)  # type: ignore[arg-type]


def _look(tree: ast.Module, worker: str, targets: Sequence[Target]) -> dict[str, object]:
    classes = [found for found in worker_classes(tree) if not worker or found.name == worker]
    for candidate in classes:
        for target in targets:
            method = _cycle_method(candidate, target)
            if method and _fits(candidate, method, target):
                return _described(candidate, method, target)
    inherited = _inherited(classes, imported_from(tree))
    return inherited or {"candidates": _candidates(classes)}


def _cycle_method(candidate: WorkerClass, target: Target) -> str:
    """The cycle method this class defines itself, "" if none."""
    if target.class_name and candidate.name != target.class_name:
        return ""
    names = (target.cycle_method,) if target.cycle_method else CYCLE_METHODS
    return next((name for name in names if name in candidate.own), "")


def _fits(candidate: WorkerClass, method: str, target: Target) -> bool:
    called = {call.callee for call in candidate.calls(*candidate.outer(method))}
    if called.intersection(target.absent):
        return False
    return all(called.intersection(group) for group in target.requires)


def _described(candidate: WorkerClass, method: str, target: Target) -> dict[str, object]:
    phases = find_phases(candidate, method, target)
    return {
        "family": target.families.get(candidate.name, target.family),
        "worker_class": candidate.name,
        "cycle_method": method,
        "found": phases.found,
        "missing": phases.missing,
        "hooks": phases.hooks,
        "acceptance": target.acceptance,
    }


def _inherited(classes: Sequence[WorkerClass], imports: Mapping[str, str]) -> dict[str, object]:
    """A worker that has its cycle from another file (STANDALONE has EAGLE's)."""
    for candidate in reversed(classes):
        for base in candidate.bases:
            if _is_worker(base) and ".speculative." in imports.get(base, ""):
                module = imports[base]
                return {
                    "family": _family_by_name(candidate.name),
                    "worker_class": candidate.name,
                    "cycle_module": module,
                    "missing": {"cycle": f"{candidate.name} has its cycle from {base} in {module}"},
                }
    return {}


def _is_worker(name: str) -> bool:
    """Whether a base class may hold a cycle: draft workers and abstract bases do not."""
    return name.endswith(_WORKER_ENDINGS) and "Draft" not in name and not name.startswith("Base")


def _family_by_name(name: str) -> str:
    """The family of a class without calls of its own to tell it by."""
    named = {known: family for target in TARGETS for known, family in target.families.items()}
    return named.get(name, "STANDALONE" if name.startswith("Standalone") else "")


def _candidates(classes: Sequence[WorkerClass]) -> tuple[str, ...]:
    """For a file the table does not know: what a user could write a target from."""
    lines = []
    for candidate in classes:
        for name in CYCLE_METHODS:
            if name in candidate.own:
                calls = candidate.calls(*candidate.outer(name))
                lines.append(
                    f"{candidate.name}.{name} (line {candidate.methods[name].lineno}): {_own(calls)}"
                )
    if lines:
        return tuple(lines)
    return tuple(
        f"{candidate.name} (line {candidate.line}) defines no cycle method"
        for candidate in classes
        if candidate.name.endswith(_WORKER_ENDINGS)
    )


def _own(calls: Sequence[Call]) -> str:
    """The calls on self, each once, in order."""
    texts = dict.fromkeys(call.callee for call in calls if call.callee.startswith("self."))
    return ", ".join(texts) if texts else "no calls on self"
