"""What other sessions left, as the screens' tests show it."""

from __future__ import annotations

from specttui.host.locks import Holder, LockedError
from specttui.session.api import Leftover
from support.scripted_snapshots import WORKER_PATH

DEAD = "20260210-091500-gpu-host"
ALIVE = "20260211-134800-gpu-host"
CACHE = "/home/user/.cache/specttui"
CONFIG = "/models/kimi-k2.5-eagle3/config.json"

LEFT = (
    Leftover(WORKER_PATH, "patched file", DEAD, 100_000.0),
    Leftover(f"{WORKER_PATH}.specttui-{DEAD}.0123456789ab.orig", "backup", DEAD, 100_060.0),
    Leftover(f"{CACHE}/hook-{DEAD}", "hook folder", DEAD, 7500.0),
    Leftover(f"{CACHE}/probe-{DEAD}.json", "control file", DEAD, 7500.0),
    Leftover(f"{CACHE}/launch-{DEAD}-20260210T092000000000.sh", "launch script", DEAD, 7400.0),
    Leftover(f"{CACHE}/launch-{DEAD}-20260210T093000000000.sh", "launch script", DEAD, 7400.0),
)
HELD = (
    Leftover(CONFIG, "lock", ALIVE, 725.0, "ada@laptop", alive=True),
    Leftover(CONFIG, "edited config", ALIVE, 700.0, "ada@laptop", alive=True),
)
LOCKED = LockedError(CONFIG, Holder(ALIVE, "ada@laptop", 725, 12))
