"""Our probe's lines."""

from __future__ import annotations

import pytest
from support.logs import figures, of, one, parse, shown

from specttui.events import Clock, DecodeStats, Phase, ProbeCycles, ProbeError

CYCLES = ProbeCycles(
    pid=7, rank="TP0", clock=Clock.EVENTS, sequence=3, time_s=1.5, steps=[2, 2], batch=[1, 1],
    cycle_ms=[None, 19.5], phase_ms={Phase.VERIFY: [18.0, 18.8]}, accepted=[1, None],
)  # fmt: skip
LINE = "[specttui] " + CYCLES.model_dump_json()
DECODE = (
    "[2026-04-27 16:06:28 TP0] Decode batch, #running-req: 1, gen throughput (token/s): 9.5, #queue-req: 0"
)


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        "sglang-1  | " + LINE,
        "\x1b[36msglang-1  |\x1b[0m " + LINE,
        "2026-04-27T16:06:28.123Z " + LINE,
        "8%|▊  | 3/36 [00:04<00:43,  1.32s/it]" + LINE,
        LINE + "   ",
        LINE + " trailing words",
    ],
)
def test_a_probe_line_is_read_behind_and_before_anything(line: str) -> None:
    assert one(ProbeCycles, line + "\n") == CYCLES


def test_probe_lines_are_not_shown() -> None:
    assert shown((LINE + "\nother\n").encode()) == ["other"]


def test_glued_probe_lines_and_decode_lines() -> None:
    events = figures(parse((LINE + LINE + DECODE + "\n" + DECODE + LINE + "\n").encode()))
    assert [event.kind for event in events] == [
        "probe_cycles",
        "probe_cycles",
        "decode",
        "decode",
        "probe_cycles",
    ]


@pytest.mark.parametrize(
    "line",
    [
        LINE[:-40],
        "[specttui] {}",
        '[specttui] {"kind":"probe_future","v":9}',
        '[specttui] {"kind":"probe_error"}',
        "[specttui] words",
        "[specttui] ",
    ],
)
def test_torn_and_foreign_lines_are_text(line: str) -> None:
    assert figures(parse((line + "\n").encode())) == []
    assert shown((line + "\n").encode()) == [line]


def test_an_unterminated_probe_line_is_no_value() -> None:
    assert of(ProbeCycles, LINE) == []
    assert of(ProbeCycles, LINE + "\n") == [CYCLES]


def test_the_probes_error() -> None:
    assert (
        one(ProbeError, '[specttui] {"kind":"probe_error","message":"boom","where":"cycle"}\n').where
        == "cycle"
    )


def test_a_probe_line_does_not_end_a_traceback() -> None:
    log = (
        "[2026-01-01 00:00:00] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/x.py", line 1, in f\n' + LINE + "\n    x()\nRuntimeError: boom\n" + DECODE + "\n"
    )
    assert [event.kind for event in figures(parse(log.encode()))] == ["probe_cycles", "failure", "decode"]
    assert len(of(DecodeStats, log)) == 1
