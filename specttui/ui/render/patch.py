"""A patch's preview in lines: the file, what will be timed and what not, and where the backup goes."""

from __future__ import annotations

from textual.content import Content

from specttui.events import Phase
from specttui.session.api import PatchPreview
from specttui.ui.render.cycle import PHASE_NAMES
from specttui.ui.render.text import BAD, GOOD, MUTED, STRONG, WARN, harmless, line

_SHOWN_HASH = 12


def preview_lines(preview: PatchPreview) -> list[Content]:
    """The preview's facts; remote text is shown as it is."""
    lines = [
        line((harmless(preview.path), STRONG)),
        line(
            ("worker ", MUTED), harmless(preview.worker_class), ("  cycle method ", MUTED),
            harmless(preview.cycle_method), ("  family ", MUTED), harmless(preview.family),
        ),
        line(
            ("sha256 ", MUTED), preview.original_sha256[:_SHOWN_HASH], (" becomes ", MUTED),
            preview.patched_sha256[:_SHOWN_HASH], ("; every original byte stays", MUTED),
        ),
    ]  # fmt: skip
    if preview.nodes:
        names = ", ".join(map(harmless, preview.nodes))
        lines.insert(1, line(("on ", MUTED), names, (": on all of them, or on none", MUTED)))
    if preview.backup_path:
        lines.append(line(("backup ", MUTED), harmless(preview.backup_path)))
    if preview.already_patched:
        lines.append(line(("already patched: the block is replaced", WARN)))
    for phase, where in preview.phases_found.items():
        lines.append(line(("  found    ", GOOD), f"{_name(phase):<15}", (harmless(where), MUTED)))
    for phase, reason in preview.phases_missing.items():
        lines.append(line(("  missing  ", BAD), f"{_name(phase):<15}", (harmless(reason), MUTED)))
    lines.extend(line(("! ", WARN), harmless(warning)) for warning in preview.warnings)
    return lines


def _name(phase: str) -> str:
    return PHASE_NAMES[Phase(phase)] if phase in set(Phase) else harmless(phase).replace("_", " ")
