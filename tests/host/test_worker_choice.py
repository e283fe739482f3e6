"""Which worker runs, by SGLang's own rules across its releases."""

from __future__ import annotations

import pytest

from specttui.events import SpecSettings
from specttui.host.worker_choice import choose_worker

V1, V2 = "eagle_worker.py", "eagle_worker_v2.py"
BOTH = {V1, V2}
EAGLE3 = SpecSettings(algorithm="EAGLE3", num_steps=3, eagle_topk=1)


@pytest.mark.parametrize(
    ("settings", "files", "version", "disabled", "expected"),
    [
        (EAGLE3, {V1}, "0.4.10", None, (V1, "EAGLEWorker")),
        (EAGLE3, {V2}, "0.5.13", True, (V2, "EAGLEWorkerV2")),
        (EAGLE3, BOTH, "0.5.12", False, (V2, "EAGLEWorkerV2")),
        (EAGLE3, BOTH, "0.5.12", True, (V1, "EAGLEWorker")),
        (EAGLE3, BOTH, "0.5.12", None, (V2, "EAGLEWorkerV2")),
        (EAGLE3, BOTH, "0.5.11.post1", None, (V2, "EAGLEWorkerV2")),
        (EAGLE3, BOTH, "0.5.9", None, (V1, "EAGLEWorker")),
        (EAGLE3, BOTH, "0.5.4", None, (V1, "EAGLEWorker")),
        (EAGLE3, BOTH, "", None, (V2, "EAGLEWorkerV2")),
        (EAGLE3.model_copy(update={"overlap": True}), BOTH, "0.5.9", None, (V2, "EAGLEWorkerV2")),
        (EAGLE3.model_copy(update={"overlap": False}), BOTH, "0.5.12", None, (V1, "EAGLEWorker")),
        (EAGLE3.model_copy(update={"eagle_topk": 4}), BOTH, "0.5.12", None, (V1, "EAGLEWorker")),
        (EAGLE3.model_copy(update={"overlap": True}), BOTH, "0.5.9", True, (V1, "EAGLEWorker")),
        (SpecSettings(), BOTH, "0.5.12", None, (V2, "EAGLEWorkerV2")),
        (SpecSettings(algorithm="NEXTN"), {V1}, "0.4.6", None, (V1, "EAGLEWorker")),
        (
            SpecSettings(algorithm="STANDALONE"),
            {V1, "standalone_worker.py"},
            "0.5.2",
            None,
            (V1, "StandaloneWorker"),
        ),
        (SpecSettings(algorithm="STANDALONE"), {V2}, "0.5.20", None, (V2, "StandaloneWorkerV2")),
        (
            SpecSettings(algorithm="NGRAM"),
            {V2, "ngram_worker.py"},
            "0.5.14",
            None,
            ("ngram_worker.py", "NGRAMWorker"),
        ),
        (
            SpecSettings(algorithm="DFLASH"),
            {"dflash_worker_v2.py"},
            "0.5.20",
            None,
            ("dflash_worker_v2.py", "DFlashWorkerV2"),
        ),
        (
            SpecSettings(algorithm="DSPARK"),
            {"dspark_worker_v2.py"},
            "0.5.16",
            None,
            ("dspark_worker_v2.py", "DSparkWorkerV2"),
        ),
    ],
)
def test_the_worker(
    settings: SpecSettings, files: set[str], version: str, disabled: bool | None, expected: tuple[str, str]
) -> None:
    choice = choose_worker(settings, files, version=version, overlap_disabled=disabled)
    assert (choice.file_name, choice.class_name) == expected


def test_several_layers_have_a_worker_of_their_own() -> None:
    files = BOTH | {"multi_layer_eagle_worker_v2.py"}
    choice = choose_worker(EAGLE3, files, version="0.5.20", multi_layer=True)
    assert choice.class_name == "MultiLayerEagleWorkerV2"
    ngram = choose_worker(SpecSettings(algorithm="NGRAM"), {"ngram_worker.py"}, multi_layer=True)
    assert ngram.class_name == "NGRAMWorker"


def test_only_defaults_are_uncertain() -> None:
    assert choose_worker(EAGLE3, BOTH, overlap_disabled=False).certain
    assert choose_worker(EAGLE3, {V1}).certain
    assert not choose_worker(EAGLE3, BOTH, version="0.5.12").certain


def test_an_unknown_algorithm_is_refused_in_words() -> None:
    choice = choose_worker(SpecSettings(algorithm="MINE"), BOTH)
    assert (choice.file_name, choice.why) == ("", "MINE is not an algorithm whose worker we know")


def test_a_missing_file_is_refused_in_words() -> None:
    choice = choose_worker(SpecSettings(algorithm="NGRAM"), BOTH)
    assert choice.why == "NGRAM needs ngram_worker.py, which this installation does not have"
