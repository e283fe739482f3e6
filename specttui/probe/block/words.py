"""Numbers and bounds the block's rooms share."""

from __future__ import annotations

# Phases, by the index of their figures in a cycle's arrays.
_SPECTTUI_PHASES = (
    "draft",
    "verify",
    "target_forward",
    "accept",
    "draft_extend",
    "kv",
    "prefill_target",
    "prefill_draft",
)
_SPECTTUI_DRAFT, _SPECTTUI_VERIFY, _SPECTTUI_TARGET, _SPECTTUI_ACCEPT = 0, 1, 2, 3
_SPECTTUI_EXTEND, _SPECTTUI_KV, _SPECTTUI_PREFILL_TARGET, _SPECTTUI_PREFILL_DRAFT = 4, 5, 6, 7
_SPECTTUI_CYCLE_PHASES = 6  # the first six belong to the decode cycle

# What is running inside a cycle, as bits.
_SPECTTUI_IN_DRAFT, _SPECTTUI_IN_VERIFY, _SPECTTUI_IN_EXTEND = 1, 2, 4
_SPECTTUI_IN_PREFILL, _SPECTTUI_IN_TARGET, _SPECTTUI_IN_KV, _SPECTTUI_IN_STEP = 8, 16, 32, 64
_SPECTTUI_IN_PHASE = 1 | 2 | 4 | 8

# A longer time between two starts is a pause of the traffic, not a cycle.
_SPECTTUI_PAUSE_S = 2.0
# The control file is looked at, and figures are written, this often.
_SPECTTUI_CHECK_S = 0.5
_SPECTTUI_SUMMARY_S = 1.0
# Cycles in one line: small enough for 4096 bytes with every phase, and for a short pause while writing.
_SPECTTUI_CYCLES_PER_LINE = 24
# The other ranks need memory for a second of cycles, bounded.
_SPECTTUI_CYCLES_PER_SUMMARY = 2000
# Cycles whose GPU times are still open, and cycles that wait for their acceptance.
_SPECTTUI_PENDING = 64
_SPECTTUI_PATIENCE = 4
# A line above this could be torn on a pipe (PIPE_BUF).
_SPECTTUI_LINE_BYTES = 4095
