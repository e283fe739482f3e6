"""Apply and remove the block in a worker file's bytes. Pure: the host reads and writes the file."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import asdict

from specttui.errors import PatchError
from specttui.events import Clock, FileState
from specttui.probe.inspection import Inspection, inspect
from specttui.probe.marker import Marker, digest, read_markers
from specttui.probe.runtime import render_block
from specttui.probe.settings import block_settings
from specttui.probe.targets import TARGETS, Target


def apply(
    source: bytes,
    *,
    session_id: str,
    utc: str,
    clock: Clock = Clock.EVENTS,
    control_path: str = "",
    worker: str = "",
    draft_steps: bool = False,
    targets: Sequence[Target] = TARGETS,
) -> bytes:
    """The worker file with the block appended; every byte of the original is kept.

    Args:
        source: The original file.
        session_id: Whose patch this is.
        utc: When, ISO 8601; goes into the marker as given.
        clock: The clock the probe begins with.
        control_path: Path of the control file on the host, "" for none.
        worker: The class to time if the file holds several, "" for the first that fits.
        draft_steps: Also time single draft steps (block/steps.py says at what price).
        targets: The table of families; put a user's own targets before it.

    Raises:
        PatchError: The file is patched already, foreign, unreadable, or holds no cycle that we know.
    """
    inspection = inspect(source, worker=worker, targets=targets)
    refuse_unless_patchable(inspection)
    settings = block_settings(
        inspection,
        session_id=session_id,
        clock=clock,
        control_path=control_path,
        way="file",
        draft_steps=draft_steps,
    )
    marker = Marker(
        sha256=digest(source),
        size=len(source),
        session=session_id,
        utc=utc,
        clock=clock.value,
        control=control_path,
        worker=inspection.worker_class,
    )
    fields = asdict(marker)
    del fields["version"]  # stands before the fields, readable by any version
    block = render_block(fields, settings).encode("ascii")
    return _checked(source, _joined(source, block))


def remove(source: bytes) -> bytes:
    """The original file, proved by size and sha256.

    Raises:
        PatchError: There is no block, or the file was changed since: the reason is in the cause.
    """
    reading = read_markers(source)
    if reading.state is FileState.PATCHED and reading.original is not None:
        return reading.original
    if reading.state is FileState.ORIGINAL:
        raise PatchError("The file holds no block of specttui's", remedy="Nothing is to be restored.")
    raise PatchError(
        "The file was changed after it was patched",
        cause=reading.reason,
        remedy="Compare it with the backup beside it, and restore that if the changes are not wanted.",
    )


def recover(source: bytes) -> bytes | None:
    """The proved original of a patched file even if the block, or text after it, was changed; else None.

    For files that a dead session left half-written, or whose changes after the block shall be given up.
    """
    return read_markers(source).original


def refuse_unless_patchable(inspection: Inspection) -> None:
    """Raise the PatchError that says why this file cannot take the block, if it cannot."""
    name = inspection.path or "The worker file"
    if inspection.state is FileState.PATCHED:
        raise PatchError(f"{name} is patched already", remedy="Restore it first, or use it as it is.")
    if inspection.state is not FileState.ORIGINAL:
        raise PatchError(
            f"{name} cannot be patched as it is",
            cause=inspection.reason,
            remedy="Restore the original from its backup, or from the SGLang wheel.",
        )
    if inspection.cycle_module:
        raise PatchError(
            f"{name} holds no decode cycle of its own",
            cause=inspection.missing["cycle"],
            remedy=f"Patch the file of {inspection.cycle_module}.",
        )
    if not inspection.cycle_method:
        raise PatchError(
            f"{name} holds no worker that we know",
            cause="; ".join(inspection.candidates) or "no class with a cycle method was found",
            remedy="Write a target for it in the settings file, from the candidates above.",
        )


def _joined(source: bytes, block: bytes) -> bytes:
    """Original and block, with a line end between if the file lacks it; the block follows its line ends."""
    line_end = b"\r\n" if b"\r\n" in source[: source.find(b"\n") + 1] else b"\n"
    separator = b"" if not source or source.endswith((b"\n", b"\r")) else line_end
    return source + separator + block.replace(b"\n", line_end)


def _checked(source: bytes, patched: bytes) -> bytes:
    """The patched file, if Python reads the original's statements in it unchanged."""
    try:
        before, after = ast.parse(source), ast.parse(patched)
    except SyntaxError as error:
        raise PatchError(
            "The patched file would not compile", cause=str(error), remedy="The file was left as it is."
        ) from error
    # The text before the block is the same, so only its last statement could have taken in what follows.
    last = len(before.body) - 1
    if last >= 0 and _shape(before.body[last]) != _shape(after.body[last]):
        raise PatchError("The block would change the meaning of the file", remedy="It was left as it is.")
    return patched


def _shape(statement: ast.stmt) -> str:
    return ast.dump(statement, include_attributes=True)
