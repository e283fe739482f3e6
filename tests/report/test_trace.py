"""The trace: lengths measured, places derived, nothing overlapping on a track."""

from __future__ import annotations

import json

import pytest

from specttui import events as ev
from specttui.report import to_trace, trace_parts


def line(offset_s, cycle_ms, *, time_s=0.0, pid=1, rank="TP0", **phase_ms):
    event = ev.ProbeCycles(
        pid=pid,
        rank=rank,
        clock=ev.Clock.EVENTS,
        time_s=time_s,
        batch=[1] * len(cycle_ms),
        cycle_ms=cycle_ms,
        phase_ms={ev.Phase(name): values for name, values in phase_ms.items()},
    )
    return ev.Envelope(at=offset_s, offset_s=offset_s, host="h", event=event)


def spans(*envelopes):
    """(process, track's number, name, start ms, length ms) of every span."""
    events = json.loads(to_trace(envelopes))["traceEvents"]
    return [
        (event["pid"], event["tid"], event["name"], event["ts"] / 1e3, event["dur"] / 1e3)
        for event in events
        if event["ph"] == "X"
    ]


def starts(found, name="cycle"):
    return [start for _, _, track, start, _ in found if track == name]


def test_cycles_end_when_their_line_was_written_and_phases_follow_one_another():
    found = spans(line(1.0, [20.0, 30.0], draft=[1.0, 2.0], verify=[15.0, 25.0], draft_extend=[3.0, None]))
    assert found == [
        (2, 1, "cycle", 950.0, 20.0),
        (2, 2, "draft", 950.0, 1.0),
        (2, 3, "verify", 951.0, 15.0),
        (2, 6, "draft extend", 966.0, 3.0),
        (2, 1, "cycle", 970.0, 30.0),
        (2, 2, "draft", 970.0, 2.0),
        (2, 3, "verify", 972.0, 25.0),
    ]


def test_parts_lie_inside_their_phase():
    found = spans(line(1.0, [20.0], verify=[15.0], target_forward=[14.0], accept=[1.0]))
    assert [(name, start) for _, _, name, start, _ in found] == [
        ("cycle", 980.0),
        ("verify", 980.0),
        ("target fwd", 980.0),
        ("accept", 994.0),
    ]


def test_the_first_cycle_after_a_pause_is_as_long_as_its_phases():
    assert spans(line(1.0, [None], draft=[1.0], verify=[9.0]))[0] == (2, 1, "cycle", 990.0, 10.0)


def test_the_hosts_clock_gives_the_spacing_and_ours_the_place():
    found = spans(
        line(10.0, [10.0], time_s=5000.0),
        line(10.9, [10.0], time_s=5000.5),
        line(11.0, [10.0], time_s=5001.0),
    )
    assert starts(found) == [9990.0, 10490.0, 10990.0]


def test_a_restarted_server_is_placed_anew():
    found = spans(line(10.0, [10.0], time_s=5000.0, pid=1), line(90.0, [10.0], time_s=5000.5, pid=2))
    assert starts(found) == [9990.0, 89990.0]


def test_cycles_never_overlap_the_line_before():
    found = spans(line(1.0, [400.0]), line(1.1, [400.0]))
    assert starts(found) == [600.0, 1000.0]


def test_spans_of_a_track_never_reach_into_the_next_one_by_rounding():
    envelopes = [line(index, [10.0001234, 7.0005678, 3.3333333]) for index in range(1, 50)]
    events = [event for event in json.loads(to_trace(envelopes))["traceEvents"] if event["ph"] == "X"]
    starts_ns = [round(event["ts"] * 1000) for event in events]
    ends_ns = [round((event["ts"] + event["dur"]) * 1000) for event in events]
    assert len(events) == 147
    assert all(end <= start for end, start in zip(ends_ns, starts_ns[1:], strict=False))


def test_each_rank_is_a_process_with_named_tracks():
    envelopes = [line(1.0, [1.0], rank="TP0"), line(1.0, [1.0], rank="TP1"), line(2.0, [1.0], rank="TP0")]
    events = json.loads(to_trace(envelopes))["traceEvents"]
    processes = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    tracks = [
        event["args"]["name"] for event in events if event["name"] == "thread_name" and event["pid"] == 2
    ]
    assert processes == {1: "session", 2: "h TP0", 3: "h TP1"}
    assert tracks == ["cycle", "draft", "verify", "target fwd", "accept", "draft extend", "kv"]


def test_runs_and_notes_are_marks():
    envelope = ev.Envelope(at=0, offset_s=1.5, event=ev.NoteAdded(text="here"))
    event = json.loads(to_trace([envelope]))["traceEvents"][1]
    assert event == {"ph": "i", "s": "g", "name": "Note: here", "pid": 1, "tid": 0, "ts": 1500000.0}


@pytest.mark.parametrize("columns", [{}, {"batch": [1]}])
def test_short_columns_are_taken_as_unknown(columns):
    event = ev.ProbeCycles(
        clock=ev.Clock.WALL, cycle_ms=[1.0, 2.0], phase_ms={ev.Phase.DRAFT: [0.5]}, **columns
    )
    found = spans(ev.Envelope(at=1.0, offset_s=1.0, event=event))
    assert [name for _, _, name, _, _ in found] == ["cycle", "draft", "cycle"]


def test_an_empty_recording_is_a_valid_trace():
    assert json.loads(to_trace([]))["displayTimeUnit"] == "ms"
    assert "".join(trace_parts([])) == to_trace([])
