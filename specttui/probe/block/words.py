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
# Parts that this cycle passes by: the allocator from the start on, the target once verify has begun.
_SPECTTUI_SKIP_KV, _SPECTTUI_SKIP_TARGET = 128, 256

# Parts of phases (target_forward, accept, kv) are timed in one of so many cycles, where timing is dear.
_SPECTTUI_PARTS_EVERY = 4

# A phase that begins so soon after the last mark begins there: an event costs more than it would tell.
_SPECTTUI_SAME_S = 30e-6
# A longer time between two starts is a pause of the traffic, not a cycle.
_SPECTTUI_PAUSE_S = 2.0
# The control file is looked at, and figures are written, this often.
_SPECTTUI_CHECK_S = 0.5
_SPECTTUI_SUMMARY_S = 1.0
# The probe's own CPU time may take this share of the time; above it, it rests, at most so many times as long.
_SPECTTUI_OWN_SHARE = 0.005
_SPECTTUI_LONGEST_REST = 4
# Ended cycles are read back this many at a time, in the middle of a verify; if none comes, this late.
_SPECTTUI_BATCH = 4
_SPECTTUI_BACKLOG = 16
_SPECTTUI_OVERDUE_S = 0.1
# A line is due at this many cycles, which with every phase leaves room below 4096 bytes for a few more.
_SPECTTUI_CYCLES_PER_LINE = 32
# The other ranks need memory for a second of cycles, bounded.
_SPECTTUI_CYCLES_PER_SUMMARY = 2000
# Cycles whose GPU times are still open, and cycles that wait for their acceptance.
_SPECTTUI_PENDING = 64
_SPECTTUI_PATIENCE = 4
# A line above this could be torn on a pipe (PIPE_BUF).
_SPECTTUI_LINE_BYTES = 4095
