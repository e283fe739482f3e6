"""Putting wrappers around calls of the live worker, and taking every one of them out again."""

from __future__ import annotations

import functools
from contextlib import suppress
from time import perf_counter
from typing import Any, Callable, Dict, List, Tuple

from specttui.probe.block.roles import _SpecttuiRole


class _SpecttuiHook:
    """One attribute replaced by ours; `restore` puts back what was there."""

    def __init__(self, owner: Any, name: str, original: Any, wrapper: Any) -> None:
        self.owner = owner
        self.name = name
        self.original = original
        self.wrapper = wrapper
        self.own = name in vars(owner)
        setattr(owner, name, wrapper)

    def restore(self) -> None:
        """Undo, unless somebody replaced the attribute after us: their wrapper may call ours."""
        if vars(self.owner).get(self.name) is not self.wrapper:
            return
        if self.own:
            setattr(self.owner, self.name, self.original)
        else:
            delattr(self.owner, self.name)


class _SpecttuiHooks:
    """All hooks of one probe, and what could not be hooked."""

    def __init__(self) -> None:
        self.installed: List[_SpecttuiHook] = []

    def put(self, owner: Any, name: str, wrapper: Any) -> None:
        """Replace an attribute, remembering the original."""
        self.installed.append(_SpecttuiHook(owner, name, getattr(owner, name), wrapper))

    def holds(self, owner: Any, name: str) -> bool:
        """Whether this very attribute is hooked already, by another path."""
        return any(hook.owner is owner and hook.name == name for hook in self.installed)

    def restore_all(self) -> None:
        """Take every hook out, newest first; one that cannot be undone does not keep the others."""
        while self.installed:
            with suppress(Exception):
                self.installed.pop().restore()


class _SpecttuiModule:
    """A module's names as attributes, so that a function it imported is hooked like a method."""

    def __init__(self, namespace: Dict[str, Any]) -> None:
        self.__dict__ = namespace


def _specttui_resolve(worker: Any, module: _SpecttuiModule, path: str) -> Tuple[Any, str]:
    """The object that holds a path's last name, and that name.

    "a.b" is an attribute path from the worker, "a().b" calls on the way, "::name" is a name of the module.

    Raises:
        AttributeError, TypeError: Something on the path does not exist; says what.
    """
    if path.startswith("::"):
        owner: Any = module
        names = [path[2:]]
    else:
        owner = worker
        names = path.split(".")
    for name in names[:-1]:
        owner = getattr(owner, name[:-2])() if name.endswith("()") else getattr(owner, name)
    last = names[-1]
    if not callable(getattr(owner, last, None)):
        raise TypeError("no method " + last + " on " + type(owner).__name__)
    return owner, last


def _specttui_timed(probe: Any, role: _SpecttuiRole, original: Callable[..., Any]) -> Callable[..., Any]:
    """A call that is a phase of the probe's current cycle, and the plain call when there is none."""
    blocked, enter, leave = role.blocked, role.enter, role.leave

    @functools.wraps(original)
    def _specttui_phase(*args: Any, **kwargs: Any) -> Any:
        cycle = probe.cycle
        if cycle is None or cycle.open & blocked:
            return original(*args, **kwargs)
        entered = perf_counter()
        try:
            start = enter(cycle, kwargs)
            cycle.own_s += perf_counter() - entered
        except Exception as error:
            start = -1
            probe.dead, probe.cycle = True, None
            with suppress(Exception):
                probe.fail(error)
        result = original(*args, **kwargs)
        if start >= 0 and probe.cycle is cycle:
            try:
                end = leave(cycle, start, result)
                cycle.own_s += perf_counter() - cycle.stamps[end]
            except Exception as error:
                probe.dead, probe.cycle = True, None
                with suppress(Exception):
                    probe.fail(error)
        return result

    return _specttui_phase


def _specttui_around(probe: Any, original: Callable[..., Any]) -> Callable[..., Any]:
    """The cycle method with the probe around it; on any error of ours, the plain method."""

    @functools.wraps(original)
    def _specttui_cycle(worker: Any, *args: Any, **kwargs: Any) -> Any:
        if probe.dead:
            return original(worker, *args, **kwargs)
        try:
            cycle = probe.begin(worker, args, kwargs)
        except Exception as error:
            cycle = None
            probe.dead, probe.cycle = True, None
            with suppress(Exception):
                probe.fail(error)
        if cycle is None:
            return original(worker, *args, **kwargs)
        try:
            result = original(worker, *args, **kwargs)
        except BaseException:
            probe.cycle = probe.previous = None
            raise
        try:
            if probe.cycle is cycle:
                probe.end(cycle, result)
        except Exception as error:
            probe.dead, probe.cycle = True, None
            with suppress(Exception):
                probe.fail(error)
        return result

    return _specttui_cycle


def _specttui_after(
    probe: Any, original: Callable[..., Any], seen: Callable[..., None]
) -> Callable[..., Any]:
    """A call after which `seen` gets its first argument; for calls that carry figures, not time."""

    @functools.wraps(original)
    def _specttui_watched(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if not probe.dead:
            try:
                seen(args[0] if args else next(iter(kwargs.values())))
            except Exception as error:
                probe.dead, probe.cycle = True, None
                with suppress(Exception):
                    probe.fail(error)
        return result

    return _specttui_watched
