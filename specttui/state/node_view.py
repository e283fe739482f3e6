"""The snapshot of a session over several hosts: the head's, with what the other nodes add to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from specttui.events import Alert, FileState, Gpu, WorkerFileChecked
from specttui.state.build import LOG_LINES, SnapshotBuilder
from specttui.state.cycle_view import rank_rows
from specttui.state.facts import Facts
from specttui.state.node_states import NodeStates
from specttui.state.session_state import SessionState
from specttui.state.snapshot import NodeRow, Snapshot

#: The connection that matters most is the worst.
_WORST_FIRST = ("down", "retrying", "connecting", "up", "none")


def snapshot_of(builder: SnapshotBuilder, states: NodeStates, now_s: float) -> Snapshot:
    """The session at `now_s` seconds after its start.

    Args:
        builder: Keeps what is dear to compute of the head's state.
        states: The states of all hosts.
        now_s: Now, on the clock of the envelopes' offsets.
    """
    snapshot = builder.build(states.head, now_s)
    if not states.names:
        return snapshot
    session, nodes = states.session, states.nodes
    worst = min(nodes, key=lambda name: _WORST_FIRST.index(nodes[name].connection))
    return replace(
        snapshot,
        session_id=session.session.session_id if session.session else "",
        target=session.session.target if session.session else "",
        mode=session.session.mode if session.session else "live",
        at=session.started_at + now_s,
        connection=nodes[worst].connection,
        connection_detail=_named(worst, nodes[worst].connection_detail),
        worker_file=_worker_file(nodes),
        gpus=tuple(_gpus(nodes)),
        log_lines=tuple(states.log)[-LOG_LINES:],
        log_total=states.log_total,
        alerts=tuple(_alerts(session, nodes)),
        notes=tuple(session.notes),
        command=session.command,
        nodes=tuple(_rows(states)),
    )


def _named(name: str, text: str) -> str:
    return f"{name}: {text}" if text else ""


def _worker_file(nodes: Mapping[str, SessionState]) -> WorkerFileChecked | None:
    """The file that is not as the others where one is not patched: patched means patched everywhere."""
    files = [state.worker_file for state in nodes.values()]
    behind = (file for file in files if file is None or file.state is not FileState.PATCHED)
    return next(behind, files[0])


def _gpus(nodes: Mapping[str, SessionState]) -> Iterator[Gpu]:
    for state in nodes.values():
        yield from state.gpus


def _alerts(session: Facts, nodes: Mapping[str, SessionState]) -> Iterator[Alert]:
    yield from session.alerts
    for name, state in nodes.items():
        for alert in state.alerts:
            yield alert.model_copy(update={"message": _named(name, alert.message)})


def _rows(states: NodeStates) -> Iterator[NodeRow]:
    ranks = {
        name: {row.rank: row.cycle_ms for row in rank_rows(state)} for name, state in states.nodes.items()
    }
    elsewhere = {rank for name in states.names[1:] for rank in ranks[name]}
    for rank, (name, state) in enumerate(states.nodes.items()):
        # The head's state holds the ranks of all nodes.
        known = ranks[name] if rank else {key: ranks[name][key] for key in ranks[name].keys() - elsewhere}
        cycles = [cycle_ms for cycle_ms in known.values() if cycle_ms is not None]
        progress = state.progress if state.server_phase == "starting" else None
        yield NodeRow(
            name=name,
            rank=rank if states.arranged else None,
            connection=state.connection,
            server_phase=_phase(state, states.head),
            detail=_detail(state),
            file_state=state.worker_file.state if state.worker_file else None,
            probe=state.probe.status,
            gpus=state.gpus,
            slowest_cycle_ms=max(cycles, default=None),
            startup_phase=progress.phase if progress else "",
            startup_done=progress.done if progress else None,
            startup_total=progress.total if progress else None,
        )


def _phase(state: Facts, head: Facts) -> str:
    """A node's server serves when the head's does: by itself it never says so."""
    joined = state.server_phase in {"serving", "starting"} and head.server_phase in {"serving", "starting"}
    return head.server_phase if joined else state.server_phase


def _detail(state: Facts) -> str:
    if state.connection != "up":
        return state.connection_detail
    if state.server_phase == "starting" and state.progress is not None:
        return f"{state.progress.phase} {state.progress.detail}".strip()
    return state.server_detail
