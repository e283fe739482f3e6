"""The control file: one small file on the host that switches a running probe."""

from __future__ import annotations

import json
import os
from typing import Optional, Tuple

_SPECTTUI_CLOCKS = ("events", "wall", "sync", "off")


class _SpecttuiControl:
    """Looks at the file by `stat`, and reads it only when it changed."""

    def __init__(self, path: str) -> None:
        self.path = os.environ.get("SPECTTUI_PROBE_CONTROL") or path
        self.seen: Optional[Tuple[int, int, int]] = None

    def read(self) -> Optional[str]:
        """The clock the file newly asks for; None when nothing changed or it cannot be understood."""
        if not self.path:
            return None
        try:
            status = os.stat(self.path)
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if seen == self.seen:
                return None
            with open(self.path, "rb") as handle:
                content = handle.read(4096).decode("utf-8", "replace").strip()
        except OSError:
            return None
        self.seen = seen
        return _specttui_wanted_clock(content)


def _specttui_wanted_clock(content: str) -> Optional[str]:
    """The clock in a control file: one word, or JSON with a "clock"; None for anything else."""
    word = content
    if content.startswith("{"):
        try:
            word = json.loads(content).get("clock", "")
        except ValueError:
            return None
    return word if word in _SPECTTUI_CLOCKS else None
