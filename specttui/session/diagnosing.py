"""Why a server did not start or is gone: the log's own failure first, else what waiting for it met. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from specttui.errors import ServerStartError
from specttui.events import Diagnosis, FailureSeen, Launch
from specttui.host.readiness import StartFailedError
from specttui.launch import draft_memory_hint

_LINES = 12


def diagnosis_of(failure: FailureSeen) -> Diagnosis:
    """A failure of the log as the reason why a server is gone."""
    return Diagnosis(
        category=failure.category,
        title=failure.title,
        cause_lines=failure.lines,
        remedy=failure.remedy,
        rank=failure.rank,
        in_probe=failure.in_probe,
    )


def diagnose_start(
    error: ServerStartError,
    failures: Sequence[FailureSeen],
    launch: Launch | None,
    sglang_version: str,
    *,
    last_lines: Sequence[str] = (),
) -> Diagnosis:
    """Why a start failed.

    Args:
        error: What waiting for it met.
        failures: The failures of its log; the first one is the cause of the others.
        launch: What was started.
        sglang_version: Its version, "" when unknown.
        last_lines: The end of its log as it was followed, for a log that is no file.
    """
    if failures:
        return _with_hint(diagnosis_of(failures[0]), launch, sglang_version)
    last: tuple[str, ...] = ()
    category = "not_started"
    if isinstance(error, StartFailedError):
        last, category = error.last_lines, error.category
    if category == "exited":
        last = last or tuple(last_lines)
    lines = last or tuple(error.cause.splitlines())
    return Diagnosis(
        category=category,
        title=error.title,
        cause_lines=lines[-_LINES:],
        remedy=error.remedy,
    )


def _with_hint(diagnosis: Diagnosis, launch: Launch | None, sglang_version: str) -> Diagnosis:
    """Name the switch without which some releases load the model twice."""
    if diagnosis.category != "oom_draft" or launch is None:
        return diagnosis
    hint = draft_memory_hint(launch, sglang_version)
    return diagnosis.model_copy(update={"remedy": f"{diagnosis.remedy} Or {hint}."}) if hint else diagnosis
