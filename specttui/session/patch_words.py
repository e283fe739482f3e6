"""What a patch means for a file, in words and as a diff. Pure."""

from __future__ import annotations

from pathlib import PurePosixPath

from specttui.host.file_records import FileContents
from specttui.session.api import ProbeWay

#: Lines of the original shown above the appended block.
CONTEXT_LINES = 3


def replaceable(contents: FileContents) -> bool:
    """Whether the account itself may put another file in its place."""
    return contents.writable and contents.folder_writable


def module_of(path: str) -> str:
    """The module that a worker file is: .../sglang/srt/speculative/eagle_worker.py."""
    parts = PurePosixPath(path).with_suffix("").parts
    start = len(parts) - 1 - parts[::-1].index("sglang") if "sglang" in parts else 0
    return ".".join(parts[start:])


def warnings_of(contents: FileContents, way: ProbeWay) -> tuple[str, ...]:
    """What the user should know before the file is patched in this way."""
    warnings = []
    if contents.resolved_path != contents.path:
        warnings.append(f"{contents.path} is a link: {contents.resolved_path} is patched")
    if contents.links > 1:
        warnings.append("The file has hard links; only this name of it is patched")
    if way == "file" and not replaceable(contents):
        warnings.append(
            f"This account may not write it: it is written through sudo, as root, for {contents.owner}"
        )
    if way == "import_hook":
        warnings.append(
            "No file is changed: at the next restart an import hook on PYTHONPATH puts the same block in"
        )
    return tuple(warnings)


def diff_lines(path: str, original: bytes, patched: bytes) -> tuple[str, ...]:
    """A unified diff of an appended block: the last lines of the original, then the new ones."""
    before = original.decode("utf-8", "replace").splitlines()
    after = patched.decode("utf-8", "replace").splitlines()
    context = before[-CONTEXT_LINES:]
    added = after[len(before) :]
    first = len(before) - len(context) + 1
    return (
        f"--- {path}",
        f"+++ {path}",
        f"@@ -{first},{len(context)} +{first},{len(context) + len(added)} @@",
        *(f" {line}" for line in context),
        *(f"+{line}" for line in added),
    )
