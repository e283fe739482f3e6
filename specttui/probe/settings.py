"""What the block is told about its worker, from an inspection."""

from __future__ import annotations

from typing import Any, Literal

from specttui.events import Clock
from specttui.probe.finding import SHOWN_AS
from specttui.probe.inspection import Inspection
from specttui.probe.targets import KV_METHODS, KV_OWNERS

#: Phases without a call of their own: the call of another role serves them, too.
_SHARED = {"verify": "target_forward", "prefill_target": "target_forward", "prefill_draft": "draft_extend"}


def block_settings(
    inspection: Inspection,
    *,
    session_id: str,
    clock: Clock,
    control_path: str,
    way: Literal["file", "import_hook"],
    draft_steps: bool = False,
) -> dict[str, Any]:
    """Settings of the block, plain data (specttui/probe/block/binding.py reads them).

    Args:
        inspection: Of the worker file, with a cycle method.
        session_id: Goes into the probe's first line.
        clock: The clock to begin with.
        control_path: Control file on the host, "" for none.
        way: How the block gets into the server.
        draft_steps: Time single draft steps, too.
    """
    roles = {SHOWN_AS.get(role, role) for role, _ in inspection.hooks}
    shared = {
        phase: role for phase, role in _SHARED.items() if phase in inspection.found and phase not in roles
    }
    return {
        "class": inspection.worker_class,
        "method": inspection.cycle_method,
        "clock": clock.value,
        "control": control_path,
        "session": session_id,
        "way": way,
        "draft_steps": draft_steps,
        "acceptance": list(inspection.acceptance),
        "hooks": [list(hook) for hook in inspection.hooks],
        "kv_owners": list(KV_OWNERS),
        "kv_methods": list(KV_METHODS),
        "shared": shared,
        "missing": dict(inspection.missing),
    }
