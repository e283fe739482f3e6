"""What the snapshot says of the measuring itself: the probe's status, its cost, and SGLang's own timers."""

from __future__ import annotations

from dataclasses import replace

from specttui.analysis.stats import known, mean
from specttui.events import Phase
from specttui.state.facts import Facts
from specttui.state.snapshot import Interval, ProbeView

#: After so many decode lines without a probe line, the probe counts as never fired.
SILENT_LINES = 8


def probe_view(facts: Facts) -> ProbeView:
    """The probe's status; "silent" is a patched server that decodes without a word from the probe."""
    view = replace(facts.probe, cost=_cost(facts), cross_check=cross_check(facts))
    if view.status == "waiting" and facts.run is not None and facts.run.lines_seen >= SILENT_LINES:
        return replace(view, status="silent", message=_silence(view))
    return view


def cross_check(facts: Facts) -> str:
    """Our target forward beside SGLang's own device timer; "" where there is none, zeros count as none."""
    timers = facts.device_timers
    columns = facts.run.current.main_cycles if facts.run is not None else None
    seconds = timers.gpu_s.get("target_verify", 0.0) if timers is not None else 0.0
    if timers is None or columns is None or seconds <= 0.0 or timers.cycles <= 0:
        return ""
    ours = known(list(columns.phase_ms.get(Phase.TARGET_FORWARD, ())))
    if not ours:
        return ""
    theirs_ms, ours_ms = 1000.0 * seconds / timers.cycles, mean(ours)
    return (
        f"target forward: SGLang's device timer {theirs_ms:.2f} ms, ours {ours_ms:.2f} ms "
        f"({100 * (ours_ms / theirs_ms - 1):+.1f} %)"
    )


def _cost(facts: Facts) -> Interval | None:
    event = facts.probe_cost
    return Interval(event.change, event.low, event.high) if event is not None else None


def _silence(view: ProbeView) -> str:
    if view.worker_class:
        return f"{view.worker_class} was hooked, but no decode cycle came through it."
    return (
        "The probe never fired: the server may run another worker class, file or interpreter, "
        "or it was started before the patch. Restart it, then look at `specttui check`."
    )
