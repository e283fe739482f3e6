"""What each release's worker files hold, as read from the releases themselves: the tests' own knowledge.

Spans of releases stand here and nowhere in the product, which decides by syntax trees alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

#: Releases the ordinary test run reads: each change of a vocabulary, and the ends.
SUBSET = (
    "0.4.1.post4", "0.4.2", "0.4.3.post4", "0.4.8", "0.4.10.post2", "0.5.2", "0.5.3.post3", "0.5.4",
    "0.5.8", "0.5.12", "0.5.13", "0.5.14", "0.5.16", "0.5.20", "0.5.23",
)  # fmt: skip

_EAGLE_PHASES = frozenset(
    {"draft", "verify", "target_forward", "accept", "draft_extend", "prefill_target", "prefill_draft"}
)
_NO_DRAFT_MODEL = _EAGLE_PHASES - {"draft_extend", "prefill_draft"}
_V2_DRAFT = "self.draft_worker.draft"
_V2_EXTEND = "self.draft_worker._draft_extend_for_decode"
_V1_EXTEND = "self.forward_draft_extend_after_decode"
_TARGET = "self.target_worker.forward_batch_generation"


@dataclass(frozen=True)
class Expected:
    """One worker file of one release.

    `calls` are the call texts of draft, verify and draft extend; `phases` those found at least; `inherits`
    is the module that holds the cycle when this file does not.
    """

    family: str
    class_name: str
    cycle_method: str = "forward_batch_generation"
    calls: tuple[str, str, str] = ("", "", "")
    phases: frozenset[str] = _EAGLE_PHASES
    inherits: str = ""


def releases() -> list[str]:
    """All releases with a speculative worker, oldest first."""
    lines = (Path(__file__).parent / "releases.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def order(release: str) -> tuple[int, ...]:
    """A release as comparable numbers: 0.5.3.post1 is (0, 5, 3, 1)."""
    numbers = [int(number) for number in re.findall(r"\d+", release)]
    return tuple([*numbers, 0][:4])


def expected(release: str) -> dict[str, Expected]:
    """Worker files of a release, by path below sglang/srt/speculative."""
    version = order(release)
    files: dict[str, Expected] = {}
    if version < (0, 5, 13, 0):
        files["eagle_worker.py"] = _eagle_v1(version)
    if version >= (0, 5, 3, 2):
        files["eagle_worker_v2.py"] = _eagle_v2(version)
    if (0, 5, 2, 0) <= version < (0, 5, 13, 0):
        files["standalone_worker.py"] = _inherits("STANDALONE", "StandaloneWorker", "eagle_worker")
    if version >= (0, 5, 8, 0):
        files["standalone_worker_v2.py"] = _inherits("STANDALONE", "StandaloneWorkerV2", "eagle_worker_v2")
    return (
        files
        | _multi_layer(version)
        | _ngram(version)
        | _dflash(version)
        | _frozen(version)
        | _newest(version)
    )


def _inherits(family: str, class_name: str, module: str) -> Expected:
    return Expected(family, class_name, "", inherits=f"sglang.srt.speculative.{module}", phases=frozenset())


def _eagle_v1(version: tuple[int, ...]) -> Expected:
    method = "forward_batch_speculative_generation" if version < (0, 5, 3, 0) else "forward_batch_generation"
    draft = "self.forward_draft_decode" if version < (0, 4, 2, 2) else "self.draft"
    extend = "self.forward_extend_after_decode" if version < (0, 4, 1, 5) else _V1_EXTEND
    return Expected("EAGLE v1", "EAGLEWorker", method, (draft, "self.verify", extend))


def _eagle_v2(version: tuple[int, ...]) -> Expected:
    calls = (_V2_DRAFT, "self.verify", _V2_EXTEND)
    if version < (0, 5, 4, 0):
        calls = ("self.draft", "self.verify", "self.draft_model_runner.model.forward")
    return Expected("EAGLE v2", "EAGLEWorkerV2", calls=calls)


def _multi_layer(version: tuple[int, ...]) -> dict[str, Expected]:
    files = {}
    if (0, 5, 7, 0) <= version < (0, 5, 13, 0):
        calls = ("self.draft", "self.verify", _V1_EXTEND)
        files["multi_layer_eagle_worker.py"] = Expected(
            "multi-layer EAGLE v1", "MultiLayerEagleWorker", calls=calls
        )
    if version >= (0, 5, 7, 0):
        calls = (_V2_DRAFT, "self.verify", _V2_EXTEND)
        files["multi_layer_eagle_worker_v2.py"] = Expected(
            "multi-layer EAGLE v2", "MultiLayerEagleWorkerV2", calls=calls
        )
    return files


def _ngram(version: tuple[int, ...]) -> dict[str, Expected]:
    if version < (0, 5, 3, 0):
        return {}
    family = "NGRAM v1" if version < (0, 5, 14, 0) else "NGRAM v2"
    calls = ("self._prepare_for_speculative_decoding", f"from {_TARGET}", "")
    return {"ngram_worker.py": Expected(family, "NGRAMWorker", calls=calls, phases=_NO_DRAFT_MODEL)}


def _dflash(version: tuple[int, ...]) -> dict[str, Expected]:
    if version < (0, 5, 11, 0):
        return {}
    if version < (0, 5, 14, 0):
        calls = (
            "self._prepare_for_speculative_decoding",
            f"from {_TARGET}",
            "self._append_target_hidden_to_draft_kv",
        )
        return {"dflash_worker.py": Expected("DFLASH v1", "DFlashWorker", calls=calls)}
    calls = (
        "self.draft_model_runner.forward",
        f"from {_TARGET}",
        "self._append_target_hidden_to_draft_kv_by_loc",
    )
    return {"dflash_worker_v2.py": Expected("DFLASH v2", "DFlashWorkerV2", calls=calls)}


def _frozen(version: tuple[int, ...]) -> dict[str, Expected]:
    name = "frozen_kv_mtp_worker_v2.py"
    if version < (0, 5, 12, 0):
        return {}
    if version >= (0, 5, 14, 0):
        calls = (_V2_DRAFT, "self.verify", _V2_EXTEND)
        return {name: Expected("frozen-KV MTP v2", "FrozenKVMTPWorkerV2", calls=calls)}
    calls = ("self.draft", "self.verify", _V1_EXTEND)
    return {
        "frozen_kv_mtp_worker.py": Expected("frozen-KV MTP v1", "FrozenKVMTPWorker", calls=calls),
        name: _inherits("frozen-KV MTP v2", "FrozenKVMTPWorkerV2", "frozen_kv_mtp_worker"),
    }


def _newest(version: tuple[int, ...]) -> dict[str, Expected]:
    files = {}
    if version >= (0, 5, 16, 0):
        executor = "self._verify_executor"
        calls = ("self._proposer.propose", f"{executor}.run_compact", f"{executor}.commit_hidden")
        files["dspark_components/dspark_worker_v2.py"] = Expected("DSPARK", "DSparkWorkerV2", calls=calls)
    if version >= (0, 5, 20, 0):
        calls = ("self._run_draft_block", "run_eagle_verify", "")
        files["uno_worker_v2.py"] = Expected("UNO", "UnoWorkerV2", calls=calls, phases=_NO_DRAFT_MODEL)
    return files
