"""The first cycle: hook the live instance's calls by attribute path, whichever file or class defines them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Dict, List

from specttui.probe.block.figures import _specttui_head, _specttui_line
from specttui.probe.block.hooks import (
    _specttui_after,
    _specttui_resolve,
    _specttui_timed,
    _SpecttuiModule,
)
from specttui.probe.block.ranks import _specttui_rank, _specttui_writes_cycles
from specttui.probe.block.roles import _specttui_roles, _SpecttuiRole
from specttui.probe.block.steps import _SPECTTUI_STEP_PATHS, _SpecttuiStepRole
from specttui.probe.block.words import _SPECTTUI_CYCLES_PER_SUMMARY

# The phase under which a role that is no phase itself is announced; "close" is not.
_SPECTTUI_SHOWS = {"verify_part": "verify", "inline_extend": "draft_extend", "close": ""}


class _SpecttuiBinding:
    """Hooks one worker instance; `hooked` and `missing` become the probe's first line."""

    def __init__(self, probe: Any) -> None:
        self.probe = probe
        self.worker = probe.worker
        self.settings = probe.settings
        self.module = _SpecttuiModule(probe.namespace)
        self.hooked: Dict[str, List[str]] = {}
        self.missing: Dict[str, str] = dict(probe.settings["missing"])

    def bind(self) -> None:
        """Hook everything the settings name, and say what was hooked and what was not."""
        probe = self.probe
        roles = _specttui_roles(probe.acceptance, probe.catch_up)
        for name, path in self.settings["hooks"]:
            self.hook(_SPECTTUI_SHOWS.get(name, name), path, roles[name])
        self.hook_allocators(roles["kv"])
        self.hook_acceptance()
        self.hook_steps()
        for phase, served_by in self.settings["shared"].items():
            if served_by in self.hooked:
                self.hooked.setdefault(phase, self.hooked[served_by])
        if "verify" in self.hooked and "target_forward" in self.hooked:
            self.hooked["accept"] = ["end of target_forward to end of verify"]
        probe.verify_hooked = "verify" in self.hooked
        probe.steps_holder = _specttui_steps_holder(self.worker)
        probe.figures.rank = _specttui_rank(self.worker)
        probe.writes_cycles = _specttui_writes_cycles(self.worker, probe.figures.rank)
        if not probe.writes_cycles:
            probe.figures.most = _SPECTTUI_CYCLES_PER_SUMMARY
        self.announce()

    def hook(self, shown: str, path: str, role: _SpecttuiRole) -> None:
        """Hook one call; a path that does not exist on this instance is only noted."""
        hooks = self.probe.hooks
        try:
            owner, name = _specttui_resolve(self.worker, self.module, path)
            if not hooks.holds(owner, name):
                hooks.put(owner, name, _specttui_timed(self.probe, role, getattr(owner, name)))
        except (AttributeError, TypeError) as reason:
            self.missing.setdefault(shown, path + ": " + str(reason))
        else:
            self.hooked.setdefault(shown, []).append(path)

    def hook_allocators(self, role: _SpecttuiRole) -> None:
        """Hook the calls of every allocator of KV slots that hangs on the worker."""
        for owner in self.settings["kv_owners"]:
            for method in self.settings["kv_methods"]:
                self.hook("kv", owner + "." + method, role)
        if "kv" not in self.hooked:
            self.missing["kv"] = "no allocator of KV slots hangs on this worker"

    def hook_acceptance(self) -> None:
        """Choose the ways by which accepted counts come, of those that exist on this instance."""
        acceptance, worker = self.probe.acceptance, self.worker
        routes = list(acceptance.routes)
        if "callback" in routes and callable(getattr(worker, "on_verify_complete_cpu", None)):
            watched = _specttui_after(self.probe, worker.on_verify_complete_cpu, acceptance.complete)
            self.probe.hooks.put(worker, "on_verify_complete_cpu", watched)
            self.hooked["accept_counts"] = ["on_verify_complete_cpu"]
            routes = [route for route in routes if route != "copied"]
        else:
            routes = [route for route in routes if route != "callback"]
            self.hooked["accept_counts"] = ["result: " + route for route in routes]
        acceptance.routes = tuple(routes)

    def hook_steps(self) -> None:
        """Hook the draft's forwards for steps that run eagerly, and say what was captured."""
        steps = self.probe.draft_steps
        if steps is None:
            return
        role = _SpecttuiStepRole()
        for path in _SPECTTUI_STEP_PATHS:
            with suppress(AttributeError, TypeError):
                owner, name = _specttui_resolve(self.worker, self.module, path)
                self.probe.hooks.put(owner, name, _specttui_timed(self.probe, role, getattr(owner, name)))
        if steps.sets:
            self.hooked["draft_steps"] = ["events in " + str(len(steps.sets)) + " captured graphs"]
        self.missing["draft_steps"] = steps.reason

    def announce(self) -> None:
        """The probe's first line."""
        probe = self.probe
        hooked, missing = self.hooked, self.missing
        fields = _specttui_head("probe_installed", probe.figures.rank)
        fields["worker_class"] = type(self.worker).__name__
        fields["cycle_method"] = self.settings["method"]
        fields["clock"] = "off" if probe.clock is None else probe.clock.name
        fields["hooked"] = {name: ", ".join(hooked[name])[:300] for name in hooked if name}
        fields["missing"] = {name: missing[name][:150] for name in missing if name and name not in hooked}
        fields["way"] = self.settings["way"]
        fields["session_id"] = self.settings["session"]
        probe.writer.write_surely(_specttui_line(fields))


def _specttui_bind_copy(probe: Any, result: Any) -> None:
    """Overlapped workers before 0.5.12: learn of a result's copy to the CPU, on its class, once."""
    probe.copy_bound = True
    owner = type(result)
    if "copied" in probe.acceptance.routes and callable(getattr(owner, "copy_to_cpu", None)):
        watched = _specttui_after(probe, owner.copy_to_cpu, probe.acceptance.copied)
        probe.hooks.put(owner, "copy_to_cpu", watched)


def _specttui_steps_holder(worker: Any) -> Any:
    """The object that keeps the worker's number of draft steps, None if there is none."""
    for holder in (worker, getattr(worker, "server_args", None)):
        if isinstance(getattr(holder, "speculative_num_steps", None), int):
            return holder
    return None
