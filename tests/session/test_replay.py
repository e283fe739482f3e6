"""The player, with a clock that moves only when the player waits."""

from __future__ import annotations

import asyncio
import math

import pytest

from specttui.errors import RecordingError, UsageError
from specttui.events import Envelope, NoteAdded
from specttui.session.recording import Recording
from specttui.session.replay import AS_FAST_AS_POSSIBLE, Replay, Rewound

OFFSETS_S = (0.0, 1.0, 3.0, 30.0, 31.0)


class FakeTime:
    """A clock whose only motion is waiting; `actions` run, in order, when the player would wait forever."""

    def __init__(self):
        self.now_s = 0.0
        self.actions = []

    def clock(self):
        return self.now_s

    async def wait(self, changed, seconds):
        if math.isinf(seconds):
            self.actions.pop(0)()
            assert changed.is_set()
        else:
            self.now_s += seconds


def write(folder, offsets_s=OFFSETS_S):
    with Recording.create(folder) as recording:
        for offset_s in offsets_s:
            recording.append(Envelope(at=offset_s, offset_s=offset_s, event=NoteAdded(text=f"{offset_s:g}")))
    return recording.path


def player(path, fake, speed=1.0, **options):
    return Replay(path, speed, clock=fake.clock, wait=fake.wait, **options)


async def play(replay, fake, react=None):
    """What came and when: (clock, text of the note or "rewound")."""
    seen = []
    async for item in replay:
        text = "rewound" if isinstance(item, Rewound) else item.event.text
        seen.append((fake.now_s, text))
        if react:
            react(text)
    return seen


async def test_envelopes_keep_their_spacing_divided_by_the_speed(tmp_path):
    fake = FakeTime()
    replay = player(write(tmp_path), fake, speed=2.0, idle_cap_s=10.0)
    assert await play(replay, fake) == [(0.0, "0"), (0.5, "1"), (1.5, "3"), (6.5, "30"), (7.0, "31")]
    assert (replay.at_end, replay.position_s, replay.duration_s) == (True, 31.0, 31.0)


async def test_as_fast_as_possible_never_waits(tmp_path):
    path = write(tmp_path)
    texts = [item.event.text async for item in Replay(path, AS_FAST_AS_POSSIBLE)]
    assert texts == ["0", "1", "3", "30", "31"]


async def test_as_fast_as_possible_lets_others_run(tmp_path):
    path = write(tmp_path, range(1200))
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    count = 0
    async for _ in Replay(path, AS_FAST_AS_POSSIBLE):
        count += 1
    task.cancel()
    assert (count, turns) == (1200, 2)


async def test_seeking_forward_hands_out_everything_up_to_there_without_waiting(tmp_path):
    fake = FakeTime()
    replay = player(write(tmp_path), fake)
    seen = await play(replay, fake, lambda text: replay.seek(30.5) if text == "1" else None)
    assert seen == [(0.0, "0"), (1.0, "1"), (1.0, "3"), (1.0, "30"), (1.5, "31")]


async def test_seeking_back_rewinds_and_plays_up_to_the_moment(tmp_path):
    fake = FakeTime()
    replay = player(write(tmp_path), fake)
    jumps = [2.0]
    seen = await play(replay, fake, lambda text: replay.seek(jumps.pop()) if text == "3" and jumps else None)
    assert seen[:7] == [
        (0.0, "0"),
        (1.0, "1"),
        (3.0, "3"),
        (3.0, "rewound"),
        (3.0, "0"),
        (3.0, "1"),
        (4.0, "3"),
    ]
    assert seen[7:] == [(9.0, "30"), (10.0, "31")]


async def test_a_pause_holds_steps_go_on_and_resume_plays(tmp_path):
    fake = FakeTime()
    replay = player(write(tmp_path), fake)
    fake.actions = [lambda: replay.step(2), replay.resume]
    seen = await play(replay, fake, lambda text: replay.pause() if text == "0" else None)
    assert seen == [(0.0, "0"), (0.0, "1"), (0.0, "3"), (5.0, "30"), (6.0, "31")]
    assert fake.actions == []


async def test_seeking_while_paused_stays_paused(tmp_path):
    fake = FakeTime()
    replay = player(write(tmp_path), fake)
    fake.actions = [lambda: replay.seek(3.0), replay.close]
    replay.pause()
    seen = await play(replay, fake)
    assert seen == [(0.0, "0"), (0.0, "1"), (0.0, "3")]
    assert (replay.paused, replay.position_s, replay.at_end) == (True, 3.0, False)


async def test_at_the_end_the_player_can_wait_to_be_sought_back(tmp_path):
    fake = FakeTime()
    replay = player(write(tmp_path, (0.0, 1.0)), fake, hold_at_end=True)
    fake.actions = [lambda: replay.seek(0.0), lambda: replay.seek(99.0), replay.close]
    seen = await play(replay, fake)
    assert seen == [(0.0, "0"), (1.0, "1"), (1.0, "rewound"), (1.0, "0"), (2.0, "1")]
    assert (replay.at_end, fake.actions) == (True, [])


async def test_the_speed_can_change_while_playing(tmp_path):
    fake = FakeTime()
    replay = player(write(tmp_path), fake)
    seen = await play(replay, fake, lambda text: replay.set_speed(4.0) if text == "1" else None)
    assert seen == [(0.0, "0"), (1.0, "1"), (1.5, "3"), (2.75, "30"), (3.0, "31")]
    assert replay.speed == 4.0


async def test_closing_ends_the_iteration(tmp_path):
    fake = FakeTime()
    replay = player(write(tmp_path), fake)
    seen = await play(replay, fake, lambda text: replay.close() if text == "1" else None)
    assert seen == [(0.0, "0"), (1.0, "1")]


async def test_the_real_clock_wakes_a_paused_player(tmp_path):
    replay = Replay(write(tmp_path), 1e6)
    replay.pause()
    asyncio.get_running_loop().call_later(0.01, replay.resume)
    async with asyncio.timeout(30):
        texts = [item.event.text async for item in replay]
    assert texts == ["0", "1", "3", "30", "31"]


async def test_broken_lines_are_passed_over_and_counted(tmp_path):
    path = write(tmp_path)
    path.write_bytes(b"broken\n" + path.read_bytes() + b'{"v":1')
    replay = Replay(tmp_path, AS_FAST_AS_POSSIBLE)
    assert len([item async for item in replay]) == 5
    assert [(problem.line, problem.torn) for problem in replay.problems] == [(1, False), (7, True)]


async def test_an_empty_recording_plays_nothing(tmp_path):
    assert [item async for item in Replay(write(tmp_path, ()), 1.0)] == []


async def test_a_missing_recording_fails_clearly(tmp_path):
    with pytest.raises(RecordingError, match="cannot be read"):
        [item async for item in Replay(tmp_path / "gone.jsonl")]


@pytest.mark.parametrize("speed", [0, -2, math.nan])
def test_a_speed_must_be_above_zero(tmp_path, speed):
    with pytest.raises(UsageError, match="cannot run at speed"):
        Replay(tmp_path, speed)
    with pytest.raises(UsageError, match="cannot run at speed"):
        Replay(tmp_path).set_speed(speed)
