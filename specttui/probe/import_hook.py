"""The second way in: a folder for PYTHONPATH whose `sitecustomize` times a worker that cannot be written.

No file of SGLang's is touched. The hook leaves every import alone but those of the worker modules named in
it: after such a module has run, the same block runs in it that the file patch would have appended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specttui.events import Clock
from specttui.probe.inspection import inspect
from specttui.probe.marker import digest
from specttui.probe.patch import refuse_unless_patchable
from specttui.probe.runtime import BLOCK_NAME, render_block
from specttui.probe.settings import block_settings
from specttui.probe.targets import TARGETS, Target

_SITECUSTOMIZE = '''\
"""Written by specttui: times the decode cycle of the worker modules below. Delete the folder to undo.

Python imports this at start-up because the folder is on PYTHONPATH; another sitecustomize is run after it.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_BLOCKS = {blocks}


class _SpecttuiFinder:
    """Finds nothing itself; lets the real loader of a worker module run the block after the module."""

    def find_spec(self, name, path=None, target=None):
        if name not in _BLOCKS:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                _specttui_follow(spec, name)
                return spec
        return None


def _specttui_follow(spec, name):
    try:
        original = spec.loader.exec_module

        def _specttui_exec_module(module):
            original(module)
            _specttui_run_block(module, os.path.join(_FOLDER, _BLOCKS[name]))

        spec.loader.exec_module = _specttui_exec_module
    except Exception as error:
        _specttui_complain(error)


def _specttui_run_block(module, path):
    try:
        if "{block_name}" not in module.__dict__:
            with open(path, "rb") as handle:
                exec(compile(handle.read(), path, "exec"), module.__dict__)
    except Exception as error:
        _specttui_complain(error)


def _specttui_complain(error):
    try:
        text = "specttui: the worker runs without the probe: " + repr(error)
        os.write(2, (text + "\\n").encode("utf-8", "replace"))
    except OSError:
        pass


def _specttui_run_next():
    """The sitecustomize that would have run without us."""
    others = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _FOLDER]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.meta_path.insert(0, _SpecttuiFinder())
_specttui_run_next()
'''


def import_hook_files(
    workers: Mapping[str, bytes],
    *,
    session_id: str,
    utc: str,
    clock: Clock = Clock.EVENTS,
    control_path: str = "",
    draft_steps: bool = False,
    targets: Sequence[Target] = TARGETS,
) -> dict[str, str]:
    """The folder's files: relative path to ASCII text. Put the folder first on the server's PYTHONPATH.

    Args:
        workers: Module name ("sglang.srt.speculative.eagle_worker") to the bytes of its file.
        session_id: Goes into the probe's first line.
        utc: When, ISO 8601.
        clock: The clock the probe begins with.
        control_path: Path of the control file on the host, "" for none.
        draft_steps: Also time single draft steps.
        targets: The table of families.

    Raises:
        PatchError: A file holds no cycle that we know, is patched already, or is foreign.
    """
    files: dict[str, str] = {}
    blocks: dict[str, str] = {}
    for module, source in workers.items():
        inspection = inspect(source, path=module, targets=targets)
        refuse_unless_patchable(inspection)
        settings = block_settings(
            inspection,
            session_id=session_id,
            clock=clock,
            control_path=control_path,
            way="import_hook",
            draft_steps=draft_steps,
        )
        marker = {"sha256": digest(source), "size": len(source), "session": session_id, "utc": utc}
        blocks[module] = f"specttui_block_{len(blocks)}.py"
        files[blocks[module]] = render_block(marker, settings)
    files["sitecustomize.py"] = _SITECUSTOMIZE.replace("{blocks}", ascii(blocks)).replace(
        "{block_name}", BLOCK_NAME
    )
    return files
