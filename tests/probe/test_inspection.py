"""The check before: families, phases with lines, inherited cycles, unknown workers, users' own targets."""

from __future__ import annotations

import json

import pytest
from support import fake_workers
from support.fake_workers import EAGLE_V1, EAGLE_V2, NGRAM

from specttui.events import FileState
from specttui.probe import TARGETS, apply, custom_target, describe, inspect, to_dict

FAMILIES = [
    (fake_workers.EAGLE_V1, "EAGLE v1", "EAGLEWorker"),
    (fake_workers.EAGLE_V1_LOOP, "EAGLE v1", "EAGLEWorker"),
    (fake_workers.EAGLE_V2, "EAGLE v2", "EAGLEWorkerV2"),
    (fake_workers.EAGLE_V2_INLINE, "EAGLE v2", "EAGLEWorkerV2"),
    (fake_workers.NGRAM, "NGRAM v1", "NGRAMWorker"),
    (fake_workers.DFLASH_V1, "DFLASH v1", "DFlashWorker"),
    (fake_workers.DFLASH_V2, "DFLASH v2", "DFlashWorkerV2"),
    (fake_workers.DSPARK, "DSPARK", "DSparkWorkerV2"),
    (fake_workers.UNO, "UNO", "UnoWorkerV2"),
]

CUSTOM = """\
class HouseWorker:
    def step(self, batch):
        self.guess(batch)
        self.check(batch)
        return batch
"""


@pytest.mark.parametrize(("source", "family", "class_name"), FAMILIES)
def test_family_is_told_by_the_calls(source: str, family: str, class_name: str) -> None:
    inspection = inspect(source.encode())
    assert (inspection.family, inspection.worker_class) == (family, class_name)
    assert inspection.state is FileState.ORIGINAL
    assert inspection.can_patch


def test_names_do_not_decide() -> None:
    inspection = inspect(EAGLE_V2.replace("EAGLEWorkerV2", "HouseWorker").encode())
    assert (inspection.family, inspection.worker_class) == ("EAGLE v2", "HouseWorker")


@pytest.mark.parametrize(
    ("source", "old", "new", "family"),
    [
        (EAGLE_V1, "EAGLEWorker", "MultiLayerEagleWorker", "multi-layer EAGLE v1"),
        (EAGLE_V1, "EAGLEWorker", "FrozenKVMTPWorker", "frozen-KV MTP v1"),
        (EAGLE_V2, "EAGLEWorkerV2", "MultiLayerEagleWorkerV2", "multi-layer EAGLE v2"),
        (EAGLE_V2, "EAGLEWorkerV2", "FrozenKVMTPWorkerV2", "frozen-KV MTP v2"),
    ],
)
def test_families_that_share_a_vocabulary(source: str, old: str, new: str, family: str) -> None:
    assert inspect(source.replace(old, new).encode()).family == family


def test_phases_are_found_with_their_lines() -> None:
    inspection = inspect(EAGLE_V1.encode())
    lines = EAGLE_V1.splitlines()
    for phase, text in {
        "draft": "self.draft(batch)",
        "verify": "self.verify(batch)",
        "target_forward": "forward_batch_generation(batch, is_verify=True)",
        "draft_extend": "self.forward_draft_extend_after_decode(batch)",
        "prefill_target": "self.forward_target_extend(batch)",
        "prefill_draft": "self.forward_draft_extend(batch, hidden)",
        "kv": "self.token_to_kv_pool_allocator",
    }.items():
        assert text in lines[inspection.found[phase].line - 1], phase
    assert inspection.missing == {}


def test_what_a_family_cannot_show_has_a_reason() -> None:
    inspection = inspect(NGRAM.encode())
    reason = "n-gram speculation drafts from a table: there is no draft model"
    assert inspection.missing == {"draft_extend": reason, "prefill_draft": reason}


def test_a_renamed_prefill_is_missing_and_the_rest_is_found() -> None:
    inspection = inspect(EAGLE_V1.replace("forward_draft_extend(", "renamed(").encode())
    assert inspection.missing == {
        "prefill_draft": "no call of self.forward_draft_extend in the cycle: renamed or moved"
    }
    assert inspection.can_patch


def test_phases_in_private_helpers_are_found() -> None:
    source = (
        EAGLE_V2.replace(
            "        result = self.verify(batch)\n",
            "        result = self._forward_rest(batch)\n",
        )
        + "\n    def _forward_rest(self, batch):\n        return self.verify(batch)\n"
    )
    assert inspect(source.encode()).found["verify"].call == "self.verify"


def test_a_class_under_a_condition_is_found() -> None:
    body = "".join(f"    {line}\n" for line in EAGLE_V1.splitlines())
    assert inspect(f"try:\n{body}except ImportError:\n    pass\n".encode()).worker_class == "EAGLEWorker"


def test_unknown_worker_lists_candidates() -> None:
    inspection = inspect(CUSTOM.replace("step", "forward_batch_generation").encode())
    assert not inspection.can_patch
    assert inspection.candidates == ("HouseWorker.forward_batch_generation (line 2): self.guess, self.check",)
    assert inspect(CUSTOM.encode()).candidates == ("HouseWorker (line 1) defines no cycle method",)


def test_a_users_target_makes_an_unknown_worker_known() -> None:
    phases = {"draft": "self.guess", "verify": "self.check"}
    targets = (custom_target("HouseWorker", "step", phases), *TARGETS)
    inspection = inspect(CUSTOM.encode(), targets=targets)
    assert (inspection.family, inspection.cycle_method) == ("custom", "step")
    assert inspection.hooks[:2] == (("draft", "guess"), ("verify", "check"))
    assert b"HouseWorker" in apply(CUSTOM.encode(), session_id="s", utc="u", targets=targets)


def test_a_users_target_leaves_other_classes_to_the_table() -> None:
    targets = (custom_target("HouseWorker", "step", {"draft": "self.guess"}), *TARGETS)
    assert inspect(EAGLE_V1.encode(), targets=targets).family == "EAGLE v1"


def test_inherited_cycle_is_followed_to_its_module() -> None:
    source = (
        b"from sglang.srt.speculative.eagle_worker_v2 import EAGLEWorkerV2, EagleDraftWorker\n"
        b"class StandaloneDraftWorker(EagleDraftWorker):\n    pass\n"
        b"class StandaloneWorkerV2(EAGLEWorkerV2):\n    pass\n"
    )
    inspection = inspect(source)
    assert inspection.family == "STANDALONE"
    assert inspection.worker_class == "StandaloneWorkerV2"
    assert inspection.cycle_module == "sglang.srt.speculative.eagle_worker_v2"
    assert not inspection.can_patch


@pytest.mark.parametrize("source", [b"def broken(:\n", b"\x00", b"\xff\xfe", b"(" * 5000])
def test_anything_can_be_inspected(source: bytes) -> None:
    inspection = inspect(source, path="worker.py")
    assert inspection.state is FileState.UNKNOWN
    assert inspection.reason
    assert "unknown" in describe(inspection)


def test_description() -> None:
    text = describe(inspect(NGRAM.encode(), path="ngram_worker.py"))
    assert text.splitlines()[:5] == [
        "ngram_worker.py",
        "  state    original",
        "  worker   NGRAMWorker (NGRAM v1)",
        "  cycle    forward_batch_generation",
        "  found    draft           line 7: self._prepare_for_speculative_decoding",
    ]
    assert (
        "  missing  draft_extend    n-gram speculation drafts from a table: there is no draft model" in text
    )


def test_description_of_a_patched_file_names_its_session() -> None:
    source = apply(EAGLE_V1.encode(), session_id="s7", utc="2026-11-29T10:00:00Z")
    text = describe(inspect(source))
    assert "state    patched (session s7, 2026-11-29T10:00:00Z, clock events)" in text


def test_description_of_unknown_and_inherited() -> None:
    unknown = describe(inspect(CUSTOM.encode()))
    assert "worker   none that the table knows" in unknown
    assert "seen     HouseWorker (line 1) defines no cycle method" in unknown
    inherited = (
        b"from sglang.srt.speculative.eagle_worker import EAGLEWorker\n"
        b"class StandaloneWorker(EAGLEWorker):\n    pass\n"
    )
    assert "cycle    in sglang.srt.speculative.eagle_worker: patch that file" in describe(inspect(inherited))


def test_plain_data() -> None:
    inspection = inspect(apply(EAGLE_V1.encode(), session_id="s7", utc="u"), path="w.py")
    data = json.loads(json.dumps(to_dict(inspection)))
    assert data["state"] == "patched"
    assert data["can_patch"] is False
    assert data["marker"]["session"] == "s7"
    assert data["found"]["verify"] == {"line": 13, "call": "self.verify"}
    assert data["size"] == inspection.size
