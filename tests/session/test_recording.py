"""What is written is what is read, through torn lines, full disks and other versions."""

from __future__ import annotations

import errno
import json
import os
import stat

import pytest

from specttui.errors import RecordingError
from specttui.events import (
    Clock,
    DecodeStats,
    Envelope,
    LogLines,
    NoteAdded,
    Phase,
    ProbeCycles,
    SessionStarted,
)
from specttui.session.recording import LineProblem, Recording, last_offset_s, read


def envelope(offset_s, event):
    return Envelope(at=1_796_000_000.0 + offset_s, offset_s=offset_s, host="gpu-host", event=event)


ENVELOPES = [
    envelope(0.0, SessionStarted(session_id="s", target="gpu-host", specttui_version="0.1.0")),
    envelope(1.5, DecodeStats(rank="TP0", running=1, accept_len=1.83, throughput_tok_s=94.05)),
    envelope(
        2.0,
        ProbeCycles(
            clock=Clock.EVENTS, batch=[1, 2], cycle_ms=[None, 19.5], phase_ms={Phase.VERIFY: [18.8, 18.9]}
        ),
    ),
    envelope(3.25, LogLines(lines=("one\u2028two", '\\ " \u0000 ü'))),
]


def write(folder, envelopes):
    with Recording.create(folder) as recording:
        for item in envelopes:
            recording.append(item)
    return recording.path


def test_what_is_read_equals_what_was_written(tmp_path):
    path = write(tmp_path / "s", ENVELOPES)
    assert list(read(path)) == ENVELOPES
    assert list(read(path.parent)) == ENVELOPES


def test_each_envelope_is_one_line_on_disk_before_append_returns(tmp_path):
    with Recording.create(tmp_path) as recording:
        for count, item in enumerate(ENVELOPES, start=1):
            recording.append(item)
            data = recording.path.read_bytes()
            assert (data.count(b"\n"), data[-1:]) == (count, b"\n")
            assert json.loads(data.splitlines()[-1])["offset_s"] == item.offset_s


def test_folder_and_file_are_private(tmp_path):
    path = write(tmp_path / "s", ENVELOPES[:1])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_recording_can_be_gone_on_with(tmp_path):
    write(tmp_path, ENVELOPES[:2])
    path = write(tmp_path, ENVELOPES[2:])
    assert list(read(path)) == ENVELOPES


def test_a_torn_last_line_is_left_out_and_reported(tmp_path):
    path = write(tmp_path, ENVELOPES)
    path.write_bytes(path.read_bytes()[:-9])
    problems = []
    assert list(read(path)) == ENVELOPES[:3]
    assert list(read(path, problems)) == ENVELOPES[:3]
    assert problems == [LineProblem(4, "the last line is torn", torn=True)]


def test_a_last_line_that_only_lacks_its_newline_counts(tmp_path):
    path = write(tmp_path, ENVELOPES)
    path.write_bytes(path.read_bytes()[:-1])
    assert list(read(path)) == ENVELOPES


def test_going_on_after_a_torn_line_costs_that_line_only(tmp_path):
    path = write(tmp_path, ENVELOPES[:2])
    path.write_bytes(path.read_bytes()[:-9])
    write(tmp_path, ENVELOPES[2:])
    problems = []
    assert list(read(path, problems)) == [ENVELOPES[0], *ENVELOPES[2:]]
    assert [(problem.line, problem.torn) for problem in problems] == [(2, False)]


def test_a_broken_line_in_the_middle_is_named(tmp_path):
    path = write(tmp_path, ENVELOPES)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b"\xff\x00 not json\n", *lines[1:]]))
    with pytest.raises(RecordingError) as caught:
        list(read(path))
    assert caught.value.title == f"Line 2 of {path} cannot be read"
    problems = []
    assert list(read(path, problems)) == ENVELOPES
    assert [problem.line for problem in problems] == [2]
    assert problems[0].reason.startswith("Invalid JSON")


def test_an_unknown_kind_is_named(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text('{"v":1,"at":1,"offset_s":1,"host":"","event":{"kind":"telepathy"}}\n')
    with pytest.raises(RecordingError) as caught:
        list(read(path))
    assert caught.value.cause == "its event is of an unknown kind, 'telepathy': recorded by another version"
    problems = []
    assert list(read(path, problems)) == []
    assert problems == [LineProblem(1, caught.value.cause)]


def test_a_wrong_field_is_named(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text('{"v":1,"at":"noon","offset_s":1,"event":{"kind":"note","text":"x"}}\n')
    with pytest.raises(RecordingError) as caught:
        list(read(path))
    assert caught.value.cause.startswith("at: Input should be a valid number")


@pytest.mark.parametrize("event", ['{"kind":"note","text":"x"}', '{"kind":"telepathy"}'])
def test_another_format_version_is_refused_even_when_problems_are_collected(tmp_path, event):
    path = tmp_path / "events.jsonl"
    path.write_text('{"v":2,"at":1,"offset_s":1,"host":"","event":' + event + "}\n")
    with pytest.raises(RecordingError) as caught:
        list(read(path, []))
    assert caught.value.title == "Line 1 has format version 2; this specttui reads version 1"


def test_blank_lines_are_no_problem(tmp_path):
    path = write(tmp_path, ENVELOPES)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n\n"))
    assert list(read(path)) == ENVELOPES


def test_a_missing_recording_is_an_error_of_ours(tmp_path):
    with pytest.raises(RecordingError, match="cannot be read"):
        list(read(tmp_path / "nothing.jsonl"))
    with pytest.raises(RecordingError, match="cannot be read"):
        last_offset_s(tmp_path / "nothing.jsonl")


def test_text_that_is_no_unicode_does_not_stop_the_recording(tmp_path):
    path = write(tmp_path, [envelope(1.0, NoteAdded(text="x\udce9y")), ENVELOPES[1]])
    assert [item.event for item in read(path)] == [NoteAdded(text="x?y"), ENVELOPES[1].event]


class FullDisk:
    """A disk with room for ten more bytes."""

    def __init__(self):
        self.room = 10
        self.write = os.write

    def __call__(self, descriptor, data):
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = self.write(descriptor, data[: self.room])
        self.room -= written
        return written


def test_a_failed_write_is_an_error_and_the_next_one_starts_a_new_line(tmp_path, monkeypatch):
    recording = Recording.create(tmp_path)
    recording.append(ENVELOPES[0])
    monkeypatch.setattr(os, "write", FullDisk())
    with pytest.raises(RecordingError) as caught:
        recording.append(ENVELOPES[1])
    assert caught.value.cause == "No space left on device"
    monkeypatch.undo()
    recording.append(ENVELOPES[2])
    recording.close()
    problems = []
    assert list(read(recording.path, problems)) == [ENVELOPES[0], ENVELOPES[2]]
    assert [problem.line for problem in problems] == [2]


def test_a_short_write_is_completed(tmp_path, monkeypatch):
    real_write = os.write
    with Recording.create(tmp_path) as recording:
        monkeypatch.setattr(os, "write", lambda descriptor, data: real_write(descriptor, data[:7]))
        recording.append(ENVELOPES[2])
        monkeypatch.undo()
    assert list(read(recording.path)) == [ENVELOPES[2]]


def test_closing_twice_is_fine_and_appending_afterwards_is_not(tmp_path):
    recording = Recording.create(tmp_path)
    recording.close()
    recording.close()
    with pytest.raises(RecordingError, match="The recording is closed"):
        recording.append(ENVELOPES[0])


def test_a_folder_that_cannot_be_made_is_an_error_of_ours(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RecordingError, match="cannot be written"):
        Recording.create(tmp_path / "file")


def test_last_offset_skips_a_torn_line(tmp_path):
    path = write(tmp_path, ENVELOPES)
    assert last_offset_s(path) == 3.25
    path.write_bytes(path.read_bytes()[:-9])
    assert last_offset_s(path) == 2.0
    path.write_bytes(b"")
    assert last_offset_s(path) == 0.0
