"""What patching would do on every node of a server, as one preview. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from specttui.errors import WorkerFileError
from specttui.session.api import PatchPreview


def with_other_previews(previews: Sequence[PatchPreview], names: Sequence[str]) -> PatchPreview:
    """The head's preview, with what differs on the other nodes as warnings.

    Args:
        previews: One per node, the head's first.
        names: The nodes' names.
    """
    head = previews[0]
    others = list(zip(names[1:], previews[1:], strict=True))
    warnings = [text for name, preview in others for text in _differences(name, head, preview)]
    patched = all(preview.already_patched for preview in previews)
    nodes = tuple(names) if others else ()
    return replace(head, warnings=(*head.warnings, *warnings), already_patched=patched, nodes=nodes)


def _differences(name: str, head: PatchPreview, preview: PatchPreview) -> Iterator[str]:
    if preview.original_sha256 != head.original_sha256:
        yield f"{name} has another worker file ({preview.path}, sha256 {preview.original_sha256[:12]})"
    elif preview.path != head.path:
        yield f"{name} has its file at {preview.path}"
    if preview.way != head.way:
        yield f"on {name} the probe goes in by {'the file' if preview.way == 'file' else 'an import hook'}"
    if preview.phases_missing.keys() != head.phases_missing.keys():
        yield f"{name} misses other phases: {', '.join(sorted(preview.phases_missing)) or 'none'}"
    yield from (f"{name}: {text}" for text in preview.warnings if text not in head.warnings)


def refuse_patched(previews: Sequence[PatchPreview], names: Sequence[str]) -> None:
    """All nodes are patched together, so each must hold its original before.

    Raises:
        WorkerFileError: One is patched already.
    """
    patched = [name for name, preview in zip(names, previews, strict=True) if preview.already_patched]
    if patched:
        raise WorkerFileError(
            f"The worker file on {', '.join(patched)} is patched already",
            remedy="Restore it first (x); then every node gets the same block.",
        )
