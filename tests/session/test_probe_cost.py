"""The probe's cost: off and on in turn, compared by the cycle times of SGLang's own lines."""

from __future__ import annotations

import pytest
from support.envelopes import cycles, decode, envelope, run_started

from specttui.errors import SpecttuiError
from specttui.events import Clock, DeviceTimersSampled, Phase, ProbeCostMeasured
from specttui.session import probe_cost
from specttui.session.probe_cost import measure_probe_cost
from specttui.state.build import SnapshotBuilder
from specttui.state.session_state import SessionState


class Traffic:
    """A server on a clock of its own whose cycle takes 2 % longer while the probe is on."""

    def __init__(self) -> None:
        self.state = SessionState()
        self.now_s = 0.0
        self.clock = Clock.EVENTS
        self.switched: list[Clock] = []
        self.lines_per_s = 2.0
        self.state.apply(envelope(0.0, run_started(1, "steps 2", steps=2)))

    async def set_clock(self, clock: Clock) -> None:
        self.clock = clock
        self.switched.append(clock)

    async def sleep(self, seconds: float) -> None:
        for _ in range(int(seconds * self.lines_per_s)):
            self.now_s += 1 / self.lines_per_s
            cycle_ms = 20.4 if self.clock is Clock.EVENTS else 20.0
            self.state.apply(envelope(self.now_s, decode(1000 * 1.83 / cycle_ms, 1.83)))


async def measured(traffic: Traffic, monkeypatch: pytest.MonkeyPatch) -> ProbeCostMeasured:
    monkeypatch.setattr(probe_cost.asyncio, "sleep", traffic.sleep)
    return await measure_probe_cost(
        traffic.state, lambda: traffic.now_s, traffic.set_clock, clock=Clock.EVENTS, pairs=4, stretch_s=8.0
    )


async def test_cost_is_the_change_of_the_cycle_and_the_order_cancels_drift(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    traffic = Traffic()
    await traffic.sleep(5.0)
    cost = await measured(traffic, monkeypatch)
    assert cost.change == pytest.approx(0.02, abs=1e-9)
    assert (cost.cycle_on_ms, cost.cycle_off_ms) == (pytest.approx(20.4), pytest.approx(20.0))
    off, on = Clock.OFF, Clock.EVENTS
    assert traffic.switched == [off, on, on, off, off, on, on, off, on]


async def test_without_traffic_it_says_so_and_leaves_the_probe_on(monkeypatch: pytest.MonkeyPatch) -> None:
    traffic = Traffic()
    traffic.lines_per_s = 0.1
    with pytest.raises(SpecttuiError, match="without steady traffic"):
        await measured(traffic, monkeypatch)
    assert traffic.switched[-1] is Clock.EVENTS


def test_snapshot_shows_cost_and_cross_check() -> None:
    state = SessionState()
    state.apply(envelope(0.0, run_started(1, "steps 2", steps=2)))
    state.apply(envelope(1.0, cycles(100, 20.0, verify=18.0, target_forward=17.6)))
    state.apply(
        envelope(
            2.0,
            ProbeCostMeasured(
                clock=Clock.EVENTS,
                pairs=4,
                cycle_on_ms=20.1,
                cycle_off_ms=20.0,
                change=0.005,
                low=0.001,
                high=0.009,
            ),
        )
    )
    state.apply(
        envelope(3.0, DeviceTimersSampled(gpu_s={"target_verify": 17.5, "eagle_draft": 0.3}, cycles=1000))
    )
    probe = SnapshotBuilder().build(state, 4.0).probe
    assert probe.cost is not None
    assert (probe.cost.value, probe.cost.low, probe.cost.high) == (0.005, 0.001, 0.009)
    assert probe.cross_check == "target forward: SGLang's device timer 17.50 ms, ours 17.60 ms (+0.6 %)"


def test_zero_timers_are_not_available() -> None:
    state = SessionState()
    state.apply(envelope(0.0, run_started(1, "steps 2", steps=2)))
    state.apply(envelope(1.0, cycles(100, 20.0, verify=18.0, target_forward=17.6)))
    state.apply(envelope(3.0, DeviceTimersSampled(gpu_s={"target_verify": 0.0}, cycles=1000)))
    assert SnapshotBuilder().build(state, 4.0).probe.cross_check == ""
    assert Phase.TARGET_FORWARD in state.runs[0].current.main_cycles.phase_ms  # type: ignore[union-attr]
