"""The report's part about the worker file: what became of it, with its hashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from specttui.events import FileState
from specttui.report.blocks import bullets, section, table
from specttui.report.escape import code, code_cell, escape
from specttui.report.facts import ReportInput, WorkerFact
from specttui.report.figures import UNKNOWN, elapsed, utc_time


def worker_sentences(workers: Sequence[WorkerFact]) -> Iterator[str]:
    """One sentence on each worker file's final state, for the summary; hosts with the same fate share one."""
    alike: dict[tuple[str, str], list[WorkerFact]] = {}
    for worker in workers:
        alike.setdefault((worker.path, _sentence(worker, "")), []).append(worker)
    for same in alike.values():
        names = ", ".join(escape(worker.node) for worker in same if worker.node)
        yield _sentence(same[0], f" on {names}" if names else "")


def worker_files(report: ReportInput) -> str:
    """The history of each worker file with its hashes."""
    return "\n\n".join(
        section(escape(worker.node), _block(worker), level=3) if worker.node else _block(worker)
        for worker in report.workers
    )


def _sentence(worker: WorkerFact, where: str) -> str:
    path = f"{code(worker.path)}{where}"
    if worker.final.state is FileState.PATCHED:
        return f"**The worker file {path} still holds the probe.** `specttui restore HOST` takes it out."
    if worker.is_original and worker.ever_patched:
        return f"The worker file {path} was patched and restored: it is byte for byte the original."
    if worker.is_original:
        return f"The worker file {path} was not changed."
    state = worker.final.state.value
    return f"The worker file {path} was last seen {state}; it is not proved to be the original."


def _block(worker: WorkerFact) -> str:
    rows = [
        (
            elapsed(step.moment.offset_s),
            utc_time(step.moment.at),
            step.state.value,
            code_cell(step.sha256) or UNKNOWN,
        )
        for step in worker.steps
    ]
    facts = [f"Original sha256: {code(worker.original_sha256) or 'not known'}"]
    facts += [f"Backup on the host: {code(worker.backup_path)}"] if worker.backup_path else []
    facts += (
        [f"Backup in the session folder: {code(worker.local_backup_path)}"]
        if worker.local_backup_path
        else []
    )
    return "\n\n".join(
        (_sentence(worker, ""), table(("after", "time (UTC)", "state", "sha256"), rows), bullets(facts))
    )
