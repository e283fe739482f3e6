"""Folds what is known of the measuring itself: what the probe costs, and what SGLang's own timers say."""

from __future__ import annotations

from specttui import events as ev
from specttui.state.facts import Facts, Handler


def _probe_cost(facts: Facts, event: ev.ProbeCostMeasured) -> None:
    facts.probe_cost = event


def _device_timers(facts: Facts, event: ev.DeviceTimersSampled) -> None:
    facts.device_timers = event


HANDLERS: dict[type[ev.Event], Handler] = {
    ev.ProbeCostMeasured: _probe_cost,
    ev.DeviceTimersSampled: _device_timers,
}
