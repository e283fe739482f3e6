"""Processes of the host, named so that a recycled number is never taken for the same process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process for good: its number and its start in clock ticks since boot. `title` is for messages."""

    pid: int
    start_ticks: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening TCP socket. `pid` is 0 when its owner is hidden from our account."""

    address: str
    port: int
    pid: int = 0


def as_parameters(processes: tuple[ProcessId, ...]) -> list[list[int]]:
    """Processes as the programs on the host take them: pairs of pid and start ticks."""
    return [[process.pid, process.start_ticks] for process in processes]
