"""The block's entry: called once with the worker module's names."""

from __future__ import annotations

from typing import Any, Dict

from specttui.probe.block.probe import _SpecttuiProbe


def _specttui_install(namespace: Dict[str, Any], settings: Dict[str, Any]) -> _SpecttuiProbe:
    """Build the probe and put it on the worker class; a failure is said in one line and changes nothing."""
    probe = _SpecttuiProbe(namespace, settings)
    try:
        probe.install()
    except Exception as error:
        probe.fail(error)
    return probe
