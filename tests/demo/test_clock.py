"""Time as the simulation spends it."""

import time

from specttui.demo.simulated.sglang.simulation.clock import PacedClock, VirtualClock


def test_paced_time_is_accounted_exactly_and_really_waited_for():
    clock = PacedClock()
    accounted, real = clock.now(), time.perf_counter()
    for _ in range(20):
        clock.spend(0.005)
    assert round(clock.now() - accounted, 9) == 0.1
    assert time.perf_counter() - real >= 0.09


def test_what_was_overslept_is_taken_off_a_later_long_wait():
    clock = PacedClock()
    time.sleep(0.2)
    real = time.perf_counter()
    clock.spend(0.1)
    assert clock.now() < real


def test_short_waits_keep_their_length():
    clock = PacedClock()
    time.sleep(0.2)
    real = time.perf_counter()
    clock.spend(0.0015)
    assert time.perf_counter() - real >= 0.0015


def test_a_long_lag_is_given_up():
    clock = PacedClock()
    time.sleep(0.7)
    real = time.perf_counter()
    clock.spend(0.001)
    assert clock.now() >= real


def test_virtual_time_passes_only_by_being_spent():
    clock = VirtualClock()
    clock.catch_up()
    clock.spend(3.5)
    clock.spend(0.25)
    assert clock.now() == 3.75
