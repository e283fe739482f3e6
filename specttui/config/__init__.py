"""The user's settings: a TOML file in the platform's folder for settings, read strictly."""

from __future__ import annotations

from specttui.config.model import Commands, HostProfile, Settings, SudoMode
from specttui.config.reader import Loaded, load, settings_path

__all__ = ["Commands", "HostProfile", "Loaded", "Settings", "SudoMode", "load", "settings_path"]
