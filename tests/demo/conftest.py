"""Fixtures of the demo's tests."""

from __future__ import annotations

import logging

import pytest
from support.simulated_scheduler import Models


@pytest.fixture
def models(tmp_path, monkeypatch, caplog):
    """Model folders, instantaneous loading, and no influence of this machine's own settings."""
    for name in ("NCCL_PROTO", "SGLANG_ENABLE_SPEC_V2", "SPECTTUI_DEMO_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPECTTUI_DEMO_SPEED", "1e9")
    caplog.set_level(logging.INFO)
    return Models(tmp_path)
