"""`specttui HOST` before anything is patched: the log alone gives throughput, acceptance and cycle time."""

from __future__ import annotations

import pytest
from support.demo_sessions import connected
from support.waiting import eventually

from specttui.demo.host import DemoHost
from specttui.events import DecodeStats, FileState


async def test_the_log_alone_tells_throughput_acceptance_and_cycle() -> None:
    async with DemoHost(speed=20, steps=3, traffic=1, seed=7) as demo:
        await demo.wait_ready()
        async with connected(demo) as (session, events):
            await eventually(lambda: session.snapshot().runs[-1].samples >= 8, seconds=60.0)
            snapshot = session.snapshot()
            assert snapshot.worker_file is not None
            assert (snapshot.worker_file.state, snapshot.probe.status) == (FileState.ORIGINAL, "absent")
            cycle, newest = snapshot.cycle, session.state.last_sample
            assert cycle is not None
            assert newest is not None
            assert cycle.clock is None
            assert cycle.cycle_ms is not None
            assert 5.0 < cycle.cycle_ms < 100.0
            assert {row.reason for row in cycle.rows} == {"needs the probe"}
            assert snapshot.throughput_now is not None
            assert snapshot.accept_len_now is not None
            assert 1.0 < snapshot.accept_len_now <= 4.0
            assert snapshot.accept_rate_now == pytest.approx((snapshot.accept_len_now - 1.0) / 3)
            lines = [event for event in events if isinstance(event, DecodeStats)]
            assert session.state.runs[0].lines_seen == len(lines)
            (row,) = snapshot.runs
            assert (row.source, row.cycles, row.phase_ms) == ("log", 0, {})
            assert row.cycle_ms is not None
            assert row.throughput_tok_s is not None
            # The model of CASES B09 holds for medians of one run, but for the spread between lines.
            computed = 1000.0 * (row.batch or 0.0) * (row.accept_len or 0.0) / row.cycle_ms
            assert computed == pytest.approx(row.throughput_tok_s.value, rel=0.25)


async def test_a_cut_connection_loses_and_repeats_no_decode_line() -> None:
    async with DemoHost(speed=20, steps=3, traffic=2) as demo:
        await demo.wait_ready()
        async with connected(demo) as (session, events):

            def seen() -> list[DecodeStats]:
                return [event for event in events if isinstance(event, DecodeStats)]

            for _ in range(3):
                before = len(seen())
                await eventually(lambda least=before + 2: len(seen()) >= least, seconds=60.0)
                demo.kill_connections()
            await eventually(lambda: session.state.connection == "up", seconds=60.0)
            before = len(seen())
            await eventually(lambda: len(seen()) >= before + 2, seconds=60.0)
            last = seen()[-1]
        text = demo.log_path.read_text()
    written = [line for line in text.splitlines() if "Decode batch" in line]
    kept = seen()
    first = next(index for index, line in enumerate(written) if _is(line, kept[0]))
    assert (
        len(kept)
        == next(index for index, line in reversed(list(enumerate(written))) if _is(line, last)) - first + 1
    )
    assert all(_is(line, event) for line, event in zip(written[first:], kept, strict=False))


def _is(line: str, event: DecodeStats) -> bool:
    """Whether a line of the file is what an event was read from."""
    figures = (f"#token: {event.tokens},", f"gen throughput (token/s): {event.throughput_tok_s:.2f},")
    return event.stamp in line and all(figure in line for figure in figures)
