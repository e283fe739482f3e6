"""The arithmetic of replay, with numbers for a clock."""

from __future__ import annotations

import math

import pytest

from specttui.session.playback import Playback


def playback_at(*offsets_s, speed=1.0, idle_cap_s=math.inf):
    """A playback that started at clock 100 with the first offset, and has the last one ahead."""
    playback = Playback(speed, idle_cap_s)
    for index, offset_s in enumerate(offsets_s):
        playback.advance(offset_s)
        if index == 0:
            assert playback.wait_s(100.0) == 0.0
    return playback


def test_the_first_event_is_due_at_once_whatever_its_offset():
    assert playback_at(17.0).wait_s(100.0) == 0.0


def test_spacing_is_kept():
    playback = playback_at(1.0, 3.5)
    assert [playback.wait_s(now) for now in (100.0, 102.0, 102.5, 104.0)] == [2.5, 0.5, 0.0, 0.0]


@pytest.mark.parametrize(("speed", "expected"), [(2.0, 5.0), (0.5, 20.0), (math.inf, 0.0)])
def test_speed_divides_the_spacing(speed, expected):
    assert playback_at(0.0, 10.0, speed=speed).wait_s(100.0) == expected


def test_a_late_consumer_catches_up():
    playback = playback_at(0.0, 1.0)
    assert playback.wait_s(103.0) == 0.0
    playback.advance(2.0)
    assert playback.wait_s(103.0) == 0.0
    playback.advance(4.0)
    assert playback.wait_s(103.0) == 1.0


def test_long_gaps_are_cut_and_later_ones_follow_on():
    playback = playback_at(0.0, 3600.0, idle_cap_s=5.0)
    assert playback.wait_s(100.0) == 5.0
    playback.advance(3601.0)
    assert playback.wait_s(100.0) == 6.0


def test_offsets_that_go_back_count_as_no_gap():
    playback = playback_at(5.0, 3.0)
    assert playback.wait_s(100.0) == 0.0
    playback.advance(4.0)
    assert playback.wait_s(100.0) == 1.0


def test_a_pause_stops_the_playhead():
    playback = playback_at(0.0, 10.0)
    playback.pause(104.0)
    assert (playback.paused, playback.wait_s(150.0)) == (True, math.inf)
    playback.resume(200.0)
    assert (playback.paused, playback.wait_s(200.0)) == (False, 6.0)


def test_a_new_speed_holds_for_the_rest_of_the_gap():
    playback = playback_at(0.0, 10.0)
    playback.set_speed(3.0, 104.0)
    assert playback.wait_s(104.0) == 2.0


def test_after_playing_without_waiting_a_finite_speed_goes_on_from_there():
    playback = playback_at(0.0, 1000.0, speed=math.inf)
    assert playback.wait_s(100.0) == 0.0
    playback.advance(1002.0)
    playback.set_speed(1.0, 100.0)
    assert playback.wait_s(100.0) == 2.0


def test_arriving_makes_the_next_event_due_or_due_after_the_lead():
    playback = playback_at(0.0, 60.0, idle_cap_s=10.0)
    playback.arrive(100.0, lead_s=4.0)
    assert playback.wait_s(100.0) == 4.0
    playback.arrive(100.0, lead_s=50.0)
    assert playback.wait_s(100.0) == 10.0
    playback.arrive(100.0)
    assert playback.wait_s(100.0) == 0.0


def test_rewinding_starts_over_and_keeps_speed_and_pause():
    playback = playback_at(0.0, 60.0, speed=2.0)
    playback.pause(101.0)
    playback.rewind()
    playback.advance(0.0)
    playback.resume(500.0)
    assert playback.wait_s(500.0) == 0.0
    playback.advance(10.0)
    assert playback.wait_s(500.0) == 5.0


@pytest.mark.parametrize("speed", [0.0, -1.0, math.nan])
def test_a_speed_must_be_above_zero(speed):
    with pytest.raises(ValueError, match="above 0"):
        Playback(speed)
    with pytest.raises(ValueError, match="above 0"):
        Playback().set_speed(speed, 0.0)
