"""Every SGLang release: the right target for each worker file, all phases found, and an exact way back."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest
from corpus.expected import SUBSET, Expected, expected, order, releases
from corpus.table import render_table
from support.wheels import speculative_folder

from specttui.errors import PatchError
from specttui.events import FileState
from specttui.probe import Inspection, apply, inspect, remove
from specttui.probe.marker import read_markers

pytestmark = pytest.mark.wheels

TABLE = Path(__file__).parents[2] / "docs" / "probe-corpus.md"


@functools.cache
def worker_files(release: str) -> dict[str, bytes]:
    """The release's files that define a cycle method or are named for a worker, by relative path."""
    folder = speculative_folder(release)
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*worker*.py")}
    return {name: source for name, source in found.items() if inspect(source).worker_class}


def test_every_family_is_found_and_told_apart(release: str) -> None:
    files = worker_files(release)
    wanted = expected(release)
    assert set(files) == set(wanted)
    for name, source in files.items():
        matches(inspect(source, path=name), wanted[name])


def matches(inspection: Inspection, wanted: Expected) -> None:
    """Compare one file with what its release is known to hold."""
    assert (inspection.family, inspection.worker_class) == (wanted.family, wanted.class_name)
    assert (inspection.cycle_method, inspection.cycle_module) == (wanted.cycle_method, wanted.inherits)
    assert set(inspection.found) - {"kv", "accept_counts"} == wanted.phases
    if wanted.inherits:
        return
    phases = ("draft", "verify", "draft_extend")
    calls = tuple(inspection.found[phase].call if phase in inspection.found else "" for phase in phases)
    assert calls == wanted.calls
    assert "accept_counts" in inspection.found
    assert all(reason for reason in inspection.missing.values())


def test_lines_of_the_phases_hold_their_calls(release: str) -> None:
    for name, source in worker_files(release).items():
        lines = source.decode().splitlines()
        for phase, finding in inspect(source).found.items():
            if phase in {"draft", "draft_extend", "prefill_draft"}:
                # black may break a long callee over lines; its last name stands within the next few.
                text = "".join(lines[finding.line - 1 : finding.line + 3])
                assert finding.call.rpartition(".")[2] in text, (name, phase)


def test_patch_and_exact_removal(release: str) -> None:
    for name, source in worker_files(release).items():
        if expected(release)[name].inherits:
            with pytest.raises(PatchError, match="no decode cycle of its own"):
                apply(source, session_id="s", utc="u")
            continue
        patched = apply(source, session_id="s", utc="u")
        compile(patched, name, "exec")
        ast.parse(patched[len(source) :], feature_version=(3, 8))
        assert patched.startswith(source)
        assert read_markers(patched).state is FileState.PATCHED
        assert remove(patched) == source
        with pytest.raises(PatchError, match="patched already"):
            apply(patched, session_id="s", utc="u")
        refuses_foreign_edits(source, patched)


def refuses_foreign_edits(source: bytes, patched: bytes) -> None:
    """An edit before, after or inside the block is seen."""
    for changed in (b"\n" + patched, patched + b"\n", patched[:-100], patched.replace(source[:20], b"#", 1)):
        assert read_markers(changed).state is FileState.FOREIGN
        with pytest.raises(PatchError, match="changed after it was patched"):
            remove(changed)


def test_the_lists_are_in_order() -> None:
    every = releases()
    assert every == sorted(every, key=order)
    assert len(every) == len(set(every)) >= 85
    assert set(SUBSET) <= set(every)
    assert len(SUBSET) >= 12


def test_result_table(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--all-releases", default=False):
        TABLE.write_text(render_table(releases(), worker_files), encoding="utf-8")
    rows = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| 0.")]
    assert [row.split("|")[1].strip() for row in rows] == releases()
    newest = render_table(SUBSET[-1:], worker_files).splitlines()
    assert next(line for line in newest if line.startswith("| 0.")) == rows[-1]
