"""How long start-ups on a host took, kept between sessions so that the next one can say how long it lasts."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

from specttui.private_files import write_private
from specttui.session.folders import home


class StartupMemory:
    """Seconds per phase of earlier starts on one host, in a small file of ours.

    Args:
        host: The host as the user writes it.
        root: The folder that holds all we keep; the user's own by default.
    """

    def __init__(self, host: str, root: Path | None = None) -> None:
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", host)
        self._path = (root or home()) / "start-ups" / f"{name}.json"

    def load(self) -> dict[str, float]:
        """What is known; empty for a new host or an unreadable file."""
        with suppress(OSError, ValueError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
            return {str(phase): float(seconds) for phase, seconds in found.items()}
        return {}

    def save(self, seconds_per_phase: dict[str, float]) -> None:
        """Keep it; an estimate is not worth an error when the disk is full."""
        if not seconds_per_phase:
            return
        with suppress(OSError):
            write_private(self._path, json.dumps(seconds_per_phase).encode())
