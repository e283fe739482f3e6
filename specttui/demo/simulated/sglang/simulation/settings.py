"""What the demo host tells its simulated server through the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .timing import MISSION, PROFILES, Profile


@dataclass(frozen=True, slots=True)
class Settings:
    """How to simulate.

    `speed` divides start-up times; `traffic` counts simulated clients; `seed` makes noise repeatable;
    `owner` is the pid and start time of the process without which the server shall not live on.
    """

    profile: Profile = MISSION
    speed: float = 1.0
    traffic: int = 1
    seed: int | None = None
    owner: tuple[int, str] | None = None


def read_settings() -> Settings:
    """Settings from SPECTTUI_DEMO_* variables."""
    seed, owner = os.environ.get("SPECTTUI_DEMO_SEED"), os.environ.get("SPECTTUI_DEMO_OWNER")
    pid, _, ticks = (owner or "").partition(" ")
    return Settings(
        profile=PROFILES[os.environ.get("SPECTTUI_DEMO_PROFILE", MISSION.name)],
        speed=float(os.environ.get("SPECTTUI_DEMO_SPEED", "1")),
        traffic=int(os.environ.get("SPECTTUI_DEMO_TRAFFIC", "1")),
        seed=int(seed) if seed else None,
        owner=(int(pid), ticks) if pid else None,
    )
