"""What a restart or a patch of several nodes would do, as one diff and one preview."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.launches import launch

from specttui.errors import WorkerFileError
from specttui.events import Clock, ServerInfo
from specttui.launch.edits import LaunchDiff, SetEnv, SetFlag
from specttui.session.api import PatchPreview
from specttui.session.node_diffs import refusal_of, with_other_nodes
from specttui.session.node_previews import refuse_patched, with_other_previews

HEAD = LaunchDiff(
    before=launch("sglang serve m"),
    after=launch("sglang serve m --speculative-num-steps 2"),
    lines=(),
    changes=("steps 5 -> 2",),
    warnings=("slow",),
    label="steps 2",
)
PREVIEW = PatchPreview(
    path="/w/eagle_worker.py",
    worker_class="EAGLEWorker",
    family="EAGLE v1",
    cycle_method="forward_batch_generation",
    clock=Clock.EVENTS,
    phases_found={"verify": "line 1: self.verify"},
    phases_missing={},
    diff_lines=(),
    original_sha256="a" * 64,
    patched_sha256="b" * 64,
    backup_path="/backup",
    warnings=("hard links",),
)


def test_the_heads_diff_is_shown_with_what_differs_elsewhere() -> None:
    same = replace(HEAD, warnings=("slow", "no GPU 7"))
    other = replace(HEAD, changes=(), errors=("systemd refuses",))
    diff = with_other_nodes([HEAD, same, other], ["a", "b", "c"])
    assert diff.changes == ("steps 5 -> 2",)
    assert diff.notes == ("b: the same with each one's own command", "c: no changes")
    assert diff.warnings == ("slow", "b: no GPU 7")
    assert diff.errors == ("c: systemd refuses",)


def test_nodes_with_the_same_changes_share_a_line() -> None:
    diff = with_other_nodes([HEAD] * 4, ["a", "b", "c", "d"])
    assert diff.notes == ("b, c, d: the same with each one's own command",)


def test_one_node_has_nothing_to_add() -> None:
    assert with_other_nodes([HEAD], ["a"]) == HEAD


def server(count: int) -> ServerInfo:
    return ServerInfo(pid=1, launch=launch("sglang serve m"), node_count=count)


def test_a_restart_of_a_part_is_refused() -> None:
    assert refusal_of(server(3), 2, []).startswith("The server spans 3 hosts, and this session knows 2")
    assert refusal_of(server(2), 1, []).startswith("The server spans 2 hosts, and this session knows 1")
    assert refusal_of(server(2), 2, [SetEnv("NCCL_PROTO", "LL")]) == ""
    assert refusal_of(server(1), 1, [SetFlag("--node-rank", "1")]) == ""
    assert refusal_of(None, 2, []) == ""


def test_nodes_keep_their_ranks() -> None:
    assert refusal_of(server(2), 2, [SetFlag("--node-rank", "1")]).startswith("--node-rank and --nnodes tell")


def test_the_heads_preview_names_what_differs_elsewhere() -> None:
    other_file = replace(PREVIEW, original_sha256="c" * 64)
    other_place = replace(PREVIEW, path="/opt/eagle_worker.py", warnings=("hard links", "owned by root"))
    other_way = replace(PREVIEW, way="import_hook", phases_missing={"draft_extend": "not called"})
    preview = with_other_previews([PREVIEW, other_file, other_place, other_way], list("abcd"))
    assert preview.warnings == (
        "hard links",
        "b has another worker file (/w/eagle_worker.py, sha256 cccccccccccc)",
        "c has its file at /opt/eagle_worker.py",
        "c: owned by root",
        "on d the probe goes in by an import hook",
        "d misses other phases: draft_extend",
    )
    assert preview.nodes == ("a", "b", "c", "d")
    assert with_other_previews([PREVIEW], ["a"]).nodes == ()


def test_it_is_patched_when_every_node_is() -> None:
    patched = replace(PREVIEW, already_patched=True)
    assert not with_other_previews([patched, PREVIEW], ["a", "b"]).already_patched
    assert with_other_previews([patched, patched], ["a", "b"]).already_patched


def test_a_node_that_is_patched_already_keeps_all_from_it() -> None:
    refuse_patched([PREVIEW, PREVIEW], ["a", "b"])
    with pytest.raises(WorkerFileError, match="on b is patched already"):
        refuse_patched([PREVIEW, replace(PREVIEW, already_patched=True)], ["a", "b"])
