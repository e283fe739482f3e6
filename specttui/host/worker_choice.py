"""Which speculative worker runs, and which file holds its cycle: from settings, release and files. Pure.

The rules are SGLang's own, 0.4.1 to 0.5.23: the scheduler takes the overlapped ("v2") class exactly when
overlap scheduling is on, and the synchronous one otherwise, as long as a release has both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from specttui.events import SpecSettings
from specttui.launch.versions import at_least

#: The first release with overlapped speculation on by default.
_DEFAULT_OVERLAP = (0, 5, 11)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A family's two files: synchronous and overlapped, each as (file that holds the cycle, class)."""

    sync: tuple[str, str] | None
    overlapped: tuple[str, str] | None


_EAGLE = _Pair(("eagle_worker.py", "EAGLEWorker"), ("eagle_worker_v2.py", "EAGLEWorkerV2"))
_MULTI_LAYER = _Pair(
    ("multi_layer_eagle_worker.py", "MultiLayerEagleWorker"),
    ("multi_layer_eagle_worker_v2.py", "MultiLayerEagleWorkerV2"),
)
_FAMILIES: Mapping[str, _Pair] = {
    "EAGLE": _EAGLE,
    "EAGLE3": _EAGLE,
    "NEXTN": _EAGLE,
    # These two define no cycle of their own: they inherit EAGLE's, so its file is the one that counts.
    "STANDALONE": _Pair(
        ("eagle_worker.py", "StandaloneWorker"), ("eagle_worker_v2.py", "StandaloneWorkerV2")
    ),
    "NGRAM": _Pair(("ngram_worker.py", "NGRAMWorker"), None),
    "DFLASH": _Pair(("dflash_worker.py", "DFlashWorker"), ("dflash_worker_v2.py", "DFlashWorkerV2")),
    "FROZEN_KV_MTP": _Pair(
        ("frozen_kv_mtp_worker.py", "FrozenKVMTPWorker"),
        ("frozen_kv_mtp_worker_v2.py", "FrozenKVMTPWorkerV2"),
    ),
    "DSPARK": _Pair(None, ("dspark_worker_v2.py", "DSparkWorkerV2")),
    "UNO": _Pair(None, ("uno_worker_v2.py", "UnoWorkerV2")),
}


@dataclass(frozen=True, slots=True)
class WorkerChoice:
    """The worker that runs, or would run with these settings.

    `file_name` holds its cycle, "" when no file fits; `class_name` is the class that the scheduler makes,
    which may inherit the cycle. `certain` is False when the choice rests on a release's defaults.
    """

    file_name: str
    class_name: str
    why: str
    certain: bool = True


def choose_worker(
    settings: SpecSettings,
    files: Collection[str],
    *,
    version: str = "",
    overlap_disabled: bool | None = None,
    multi_layer: bool = False,
) -> WorkerChoice:
    """Choose the worker.

    Args:
        settings: The speculative settings, as resolved by the server where known. Without speculation the
            answer is the worker that EAGLE would get.
        files: Names of the worker files that the installed package has.
        version: SGLang's version as it states it; only defaults depend on it.
        overlap_disabled: `disable_overlap_schedule` as the running server resolved it; None if unknown.
        multi_layer: True with `--enable-multi-layer-eagle`, in effect or asked for.
    """
    algorithm = (settings.algorithm or "EAGLE").upper()
    pair = _MULTI_LAYER if multi_layer and _FAMILIES.get(algorithm) is _EAGLE else _FAMILIES.get(algorithm)
    if pair is None:
        return WorkerChoice("", "", f"{algorithm} is not an algorithm whose worker we know")
    present = [side for side in (pair.sync, pair.overlapped) if side and side[0] in files]
    if len(present) < 2:
        return _only(algorithm, present, pair)
    return _by_overlap(pair, settings, version, overlap_disabled)


def _only(algorithm: str, present: list[tuple[str, str]], pair: _Pair) -> WorkerChoice:
    if not present:
        wanted = " or ".join(side[0] for side in (pair.sync, pair.overlapped) if side)
        return WorkerChoice("", "", f"{algorithm} needs {wanted}, which this installation does not have")
    return WorkerChoice(*present[0], f"this installation has no other worker for {algorithm}")


def _by_overlap(
    pair: _Pair, settings: SpecSettings, version: str, overlap_disabled: bool | None
) -> WorkerChoice:
    assert pair.sync is not None
    assert pair.overlapped is not None
    if overlap_disabled is not None:
        word = "off" if overlap_disabled else "on"
        side = pair.sync if overlap_disabled else pair.overlapped
        return WorkerChoice(*side, f"the running server has overlap scheduling {word}")
    if settings.overlap is False:
        return WorkerChoice(*pair.sync, "the launch switches overlapped speculation off")
    if (settings.eagle_topk or 1) > 1:
        return WorkerChoice(*pair.sync, "top-k above 1 needs the synchronous worker in these releases")
    if settings.overlap:
        return WorkerChoice(*pair.overlapped, "the launch switches overlapped speculation on")
    if at_least(version, _DEFAULT_OVERLAP):
        return WorkerChoice(*pair.overlapped, f"overlapped speculation is {version}'s default", certain=False)
    if version:
        return WorkerChoice(*pair.sync, f"synchronous speculation is {version}'s default", certain=False)
    return WorkerChoice(
        *pair.overlapped, "the release is unknown; overlap is the newest default", certain=False
    )
