"""Which calls are which phase, by worker family: a table, chosen by what a file's syntax tree holds.

A version number never decides: editable checkouts report versions that are not theirs, and post releases
carry the next release's code. Sources: the wheels of SGLang 0.4.1 to 0.5.23 (docs/probe.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: The method that the scheduler calls once per iteration, under its two names.
CYCLE_METHODS = ("forward_batch_speculative_generation", "forward_batch_generation")
#: The target's forward, hooked on the live instance in every family.
TARGET_FORWARD = "self.target_worker.forward_batch_generation"
#: Keywords by which a worker marks a target forward as verification.
VERIFY_KEYWORDS = frozenset({"is_verify", "skip_sample"})
#: Where the allocator of KV slots may hang, and which of its calls are KV bookkeeping.
KV_OWNERS = (
    "token_to_kv_pool_allocator",
    "target_worker.model_runner.token_to_kv_pool_allocator",
    "draft_model_runner.token_to_kv_pool_allocator",
    "target_worker.model_runner.token_to_kv_pool",
    "model_runner.token_to_kv_pool",
)
KV_METHODS = ("alloc", "alloc_extend", "alloc_decode", "free", "get_kvcache().move_kv_cache")

_LATE = ("callback", "copied")
_NO_DRAFT_MODEL = "n-gram speculation drafts from a table: there is no draft model"
_OWN_MODEL = "UNO drafts with the target model itself"


@dataclass(frozen=True, slots=True)
class Target:
    """One family's vocabulary.

    Attributes:
        family: What the family is called.
        calls: Role to the calls that play it, as written in the cycle method or its private helpers. Roles
            are phases, or "verify_part" and "close" where verify is no call of its own, or "inline_extend".
        requires: Of each group, at least one call must be there, or it is another family.
        absent: None of these may be called.
        families: Family names by class name, for classes that share this vocabulary.
        acceptance: Ways in which accepted counts reach the CPU (block/acceptance.py).
        elsewhere: Phases that are hooked on the live instance though another file calls them, with a note.
        missing: Phases this family cannot show, with the reason.
        class_name: The only class it applies to, for targets from a user's settings.
        cycle_method: The cycle method, if it is not one of `CYCLE_METHODS`.
    """

    family: str
    calls: Mapping[str, tuple[str, ...]]
    requires: tuple[tuple[str, ...], ...] = ()
    absent: tuple[str, ...] = ()
    families: Mapping[str, str] = field(default_factory=dict)
    acceptance: tuple[str, ...] = _LATE
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    class_name: str = ""
    cycle_method: str = ""


#: What the family of a user's own target is called.
CUSTOM_FAMILY = "custom"


def custom_target(class_name: str, cycle_method: str, phases: Mapping[str, str]) -> Target:
    """A target from a user's settings, for a worker the table does not know.

    Args:
        class_name: The worker's class.
        cycle_method: Its method that the scheduler calls once per iteration.
        phases: Phase to the call as written in that method ("self.draft_worker.draft").
    """
    calls = {phase: (call,) for phase, call in phases.items()}
    ways = ("verify", "result", *_LATE)
    return Target(CUSTOM_FAMILY, calls, acceptance=ways, class_name=class_name, cycle_method=cycle_method)


_PREFILL_V1 = {
    "prefill_target": ("self.forward_target_extend",),
    "prefill_draft": ("self.forward_draft_extend",),
}
_EXTEND_V1 = "self.forward_draft_extend_after_decode"
_EXTEND_V2 = "self.draft_worker._draft_extend_for_decode"
_APPEND_V1 = "self._append_target_hidden_to_draft_kv"
_APPEND_V2 = "self._append_target_hidden_to_draft_kv_by_loc"
_PREPARE = "self._prepare_for_speculative_decoding"

#: In order of trial: a vocabulary that is a part of another one stands after it.
TARGETS = (
    Target(
        family="EAGLE v1",
        calls={
            "draft": ("self.forward_draft_decode",),
            "verify": ("self.verify",),
            "draft_extend": (_EXTEND_V1, "self.forward_extend_after_decode"),
            **_PREFILL_V1,
        },
        requires=(
            ("self.forward_draft_decode",),
            ("self.verify",),
            (_EXTEND_V1, "self.forward_extend_after_decode"),
        ),
        acceptance=("verify", "result"),
        elsewhere={"kv": "inside batch.spec_info"},
    ),
    Target(
        family="EAGLE v1",
        calls={
            "draft": ("self.draft",),
            "verify": ("self.verify",),
            "draft_extend": (_EXTEND_V1,),
            **_PREFILL_V1,
        },
        requires=(("self.draft",), ("self.verify",), (_EXTEND_V1,)),
        families={
            "MultiLayerEagleWorker": "multi-layer EAGLE v1",
            "FrozenKVMTPWorker": "frozen-KV MTP v1",
        },
        acceptance=("verify", "result"),
    ),
    Target(
        family="EAGLE v2",
        calls={
            "draft": ("self.draft_worker.draft", "self._build_trivial_verify_input"),
            "verify": ("self.verify",),
            "draft_extend": (
                _EXTEND_V2,
                "self._stub_skipped_draft_extend",
                "self.draft_worker._draft_extend_plan_for_decode",
            ),
            "prefill_draft": ("self.draft_worker._draft_extend_for_prefill",),
        },
        requires=(("self.draft_worker.draft",), ("self.verify",), (_EXTEND_V2,)),
        families={
            "MultiLayerEagleWorkerV2": "multi-layer EAGLE v2",
            "FrozenKVMTPWorkerV2": "frozen-KV MTP v2",
        },
        elsewhere={"target_forward": "inside self.verify"},
    ),
    Target(
        family="EAGLE v2",
        calls={
            "draft": ("self.draft",),
            "verify": ("self.verify",),
            "inline_extend": ("self.draft_model_runner.model.forward",),
            "prefill_draft": ("self.forward_draft_extend",),
        },
        requires=(("self.draft",), ("self.verify",)),
        absent=(_EXTEND_V1, _EXTEND_V2),
    ),
    Target(
        family="DFLASH v1",
        calls={"draft": (_PREPARE,), "draft_extend": (_APPEND_V1,), "prefill_draft": (_APPEND_V1,)},
        requires=((_PREPARE,), (_APPEND_V1,)),
        acceptance=("result",),
    ),
    Target(
        family="NGRAM v2",
        calls={"draft": (_PREPARE,), "close": ("self._update_ngram_corpus",)},
        requires=((_PREPARE,), ("eagle_sample",), (TARGET_FORWARD,)),
        missing={"draft_extend": _NO_DRAFT_MODEL, "prefill_draft": _NO_DRAFT_MODEL},
    ),
    Target(
        family="NGRAM v1",
        calls={"draft": (_PREPARE,), "close": ("self._update_ngram_corpus", "self._update_ngram_cache")},
        requires=((_PREPARE,), ("verify_input.verify",), (TARGET_FORWARD,)),
        acceptance=("result", "total"),
        elsewhere={"kv": "inside verify_input"},
        missing={"draft_extend": _NO_DRAFT_MODEL, "prefill_draft": _NO_DRAFT_MODEL},
    ),
    Target(
        family="DFLASH v2",
        calls={
            "draft": (
                "self.draft_model_runner.forward",
                "self._greedy_sample_from_vocab_parallel_head",
                "self._propose_selector_block",
                "domino_greedy_rollout",
                "propose_lilicorr_block",
            ),
            "draft_extend": (_APPEND_V2,),
            "prefill_draft": (_APPEND_V2,),
        },
        requires=(("self.draft_model_runner.forward",), (_APPEND_V2,)),
    ),
    Target(
        family="DSPARK",
        calls={
            "draft": ("self._proposer.propose",),
            "verify_part": (
                "self._verify_executor.run_compact",
                "self._verify_executor.run_non_compact",
                "self._sampling_accept_graph.run",
                "self._verify_executor.accept_and_finalize",
            ),
            "draft_extend": ("self._verify_executor.commit_hidden",),
            "prefill_draft": (
                "self._kv_injector.inject_prefill",
                "self._kv_injector.inject_target_hidden",
            ),
        },
        requires=(
            ("self._proposer.propose",),
            ("self._verify_executor.run_compact", "self._verify_executor.run_non_compact"),
        ),
        elsewhere={"target_forward": "inside self._verify_executor"},
    ),
    Target(
        family="UNO",
        calls={
            "draft": ("self._run_draft_block", "sample_uno_candidates", "sample_uno_clean_root"),
            "verify": ("run_eagle_verify",),
            "verify_part": ("self._run_target_block", "self._accept_and_pack", "run_uno_sampling"),
        },
        requires=(("self._run_draft_block",), ("self._run_target_block", "run_eagle_verify")),
        elsewhere={"target_forward": "inside self._run_target_block"},
        missing={"draft_extend": _OWN_MODEL, "prefill_draft": _OWN_MODEL},
    ),
)
