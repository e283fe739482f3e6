"""Short ways to write event sequences in tests."""

from __future__ import annotations

from specttui.events import (
    AnyEvent,
    Clock,
    DecodeStats,
    Envelope,
    Launch,
    Phase,
    ProbeCycles,
    RunStarted,
    SpecSettings,
)
from specttui.state.session_state import SessionState

#: 2026-11-29 14:00 UTC.
START_AT = 1795960800.0


def envelope(offset_s: float, event: AnyEvent) -> Envelope:
    """An envelope `offset_s` seconds after START_AT."""
    return Envelope(at=START_AT + offset_s, offset_s=offset_s, host="demo", event=event)


def fold(*events: tuple[float, AnyEvent]) -> SessionState:
    """The state after these (offset, event) pairs."""
    state = SessionState()
    for offset_s, event in events:
        state.apply(envelope(offset_s, event))
    return state


def decode(
    throughput: float,
    accept_len: float | None = None,
    running: int = 1,
    rank: str = "TP0",
    usage: float = 0.1,
) -> DecodeStats:
    """A decode line."""
    return DecodeStats(
        rank=rank,
        running=running,
        accept_len=accept_len,
        throughput_tok_s=throughput,
        token_usage=usage,
        queue=0,
    )


def cycles(
    count: int, cycle_ms: float, accepted: int = 1, rank: str = "TP0", **phase_ms: float
) -> ProbeCycles:
    """A probe line of equal cycles."""
    return ProbeCycles(
        rank=rank,
        clock=Clock.EVENTS,
        batch=[1] * count,
        steps=[2] * count,
        cycle_ms=[cycle_ms] * count,
        phase_ms={Phase(name): [value] * count for name, value in phase_ms.items()},
        cpu_ms={Phase(name): [value / 10] * count for name, value in phase_ms.items()},
        accepted=[accepted] * count,
        accept_histogram=[0] * accepted + [count],
    )


def run_started(
    run_id: int, label: str, steps: int | None = None, changes: tuple[str, ...] = ()
) -> RunStarted:
    """A run's start; steps None is the baseline."""
    settings = SpecSettings()
    argv = ["python", "-m", "sglang.launch_server", "--model-path", "m"]
    if steps is not None:
        settings = SpecSettings(algorithm="EAGLE3", num_steps=steps, eagle_topk=1, num_draft_tokens=steps + 1)
        argv += ["--speculative-algorithm", "EAGLE3", "--speculative-num-steps", str(steps)]
    return RunStarted(
        run_id=run_id, label=label, launch=Launch(argv=tuple(argv)), settings=settings, changes=changes
    )
