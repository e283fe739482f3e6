"""Which commands make sense in which state: True is available, None greyed out, False not shown."""

from __future__ import annotations

from dataclasses import dataclass

from specttui.events import FileState
from specttui.session.api import SessionApi
from specttui.state.snapshot import Snapshot
from specttui.ui.keys import KEY_BY_ID


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides which commands are available."""

    replay: bool = False
    readonly: bool = False
    busy: bool = False
    connected: bool = False
    launch_known: bool = False
    worker_known: bool = False
    serving: bool = False
    patched: bool = False
    probe_loaded: bool = False
    can_roll_back: bool = False
    changes: bool = False
    draft_known: bool = False
    starting: bool = False


def facts(session: SessionApi, snapshot: Snapshot, *, replay: bool, busy: bool) -> Facts:
    """Gather the facts; `busy` is True while a command of ours runs that the snapshot may not show yet."""
    worker_file = snapshot.worker_file
    worker_path = worker_file.path if worker_file else snapshot.server.worker.path if snapshot.server else ""
    running = snapshot.command is not None and snapshot.command.status == "running"
    return Facts(
        replay=replay,
        readonly=session.readonly,
        busy=busy or running,
        connected=snapshot.connection == "up",
        launch_known=session.launch is not None,
        worker_known=bool(worker_path),
        serving=snapshot.server_phase == "serving",
        patched=session.patched or (worker_file is not None and worker_file.state == FileState.PATCHED),
        probe_loaded=snapshot.probe.status in {"waiting", "live", "silent", "off"},
        can_roll_back=session.can_roll_back,
        changes=bool(session.changes_on_host or session.leftovers),
        draft_known=_draft_known(snapshot),
        starting=snapshot.server_phase == "starting" and running and not replay,
    )


def leftovers_offered(session: SessionApi, *, replay: bool) -> bool:
    """Whether to ask about leftovers: where the host may be changed, and some are worth asking about."""
    if replay or session.readonly:
        return False
    return any(left.matters for left in session.leftovers)


def _draft_known(snapshot: Snapshot) -> bool:
    """True when the server that runs, or ran before a baseline, has a draft model."""
    settings = (snapshot.settings, *(run.settings for run in snapshot.runs))
    return any(each.draft_model_path for each in settings)


def command_state(name: str, known: Facts) -> bool | None:
    """Whether a session command is available.

    Args:
        name: The command's id in `specttui.ui.keys`.
        known: The facts of this moment.

    Returns:
        True when it is, None when it is shown greyed out, False when it is not shown.
    """
    if KEY_BY_ID[name].changes_host and (known.readonly or known.replay):
        return False
    if known.replay and name in {"note", "rediscover"}:
        return False
    if name == "roll_back" and not known.can_roll_back:
        return False
    if known.busy:
        return None
    if name in {"export", "note"}:
        return True
    if name == "rediscover":
        return True
    return True if known.connected and _applies(name, known) else None


def _applies(name: str, known: Facts) -> bool:
    return {
        "back_up": known.worker_known,
        "patch": known.worker_known and not known.patched,
        "restore": known.patched or known.changes,
        "draft_config": known.draft_known,
        "restart": known.launch_known,
        "load": known.serving,
        "clock": known.probe_loaded,
        "cost": known.probe_loaded and known.serving,
    }.get(name, True)
