"""What the middle of the screen shows: the cycle, or why there is none and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from specttui.events import FileState
from specttui.state.snapshot import Snapshot
from specttui.ui.render.cycle import cycle_panel
from specttui.ui.render.panel import Panel, Space
from specttui.ui.render.progress import progress_panel
from specttui.ui.render.text import BAD, MUTED, STRONG, WARN, harmless, line, wrap


@dataclass(frozen=True, slots=True)
class Awaited:
    """A missing cycle explained: what is so, what was reported, and what the user can do."""

    title: str
    text: str
    detail: str = ""
    remedy: str = ""
    style: str = STRONG


def middle_panel(snapshot: Snapshot, space: Space) -> Panel:
    """The panel for the cycle's place."""
    if snapshot.server_phase in {"starting", "stopping"}:
        return progress_panel(snapshot, space)
    if snapshot.cycle is not None and snapshot.cycle.rows and snapshot.server_phase == "serving":
        return cycle_panel(snapshot, snapshot.cycle, space)
    return awaited_panel(explain(snapshot), space)


def awaited_panel(awaited: Awaited, space: Space) -> Panel:
    """An explanation in the rows there are; the remedy stays when the detail has to give way."""
    text = [line((row, awaited.style)) for row in wrap(awaited.text, space.width)]
    remedy = [line(row) for row in wrap(awaited.remedy, space.width) if row]
    room = max(0, space.body_rows - len(text) - len(remedy))
    detail = [
        line((row, MUTED))
        for given in awaited.detail.splitlines()
        for row in wrap(harmless(given), space.width)
    ]
    return Panel(awaited.title, "", (*text, *detail[:room], *remedy))


def explain(snapshot: Snapshot) -> Awaited:
    """Why no cycle is shown: the connection first, then the server, then the probe."""
    return _connection(snapshot) or _server(snapshot) or _probe(snapshot)


def _connection(snapshot: Snapshot) -> Awaited | None:
    target, detail = _where(snapshot), snapshot.connection_detail
    if snapshot.connection == "connecting":
        return Awaited("CONNECTION", f"Connecting to {target}.", detail)
    if snapshot.connection == "retrying":
        kept = "It is tried again by itself; the log goes on where it stopped."
        return Awaited("CONNECTION", f"The connection to {target} is lost.", detail, kept, WARN)
    if snapshot.connection == "down":
        return Awaited("CONNECTION", f"Not connected to {target}.", detail, "Press f5 to try again.", BAD)
    return None


def _where(snapshot: Snapshot) -> str:
    """The host that is meant; of several, those that are in the state that the snapshot shows."""
    meant = [
        node.name
        for node in snapshot.nodes
        if node.connection == snapshot.connection
        and (snapshot.connection != "up" or node.server_phase == snapshot.server_phase)
    ]
    return harmless(", ".join(meant) or snapshot.target)


def _server(snapshot: Snapshot) -> Awaited | None:
    detail = snapshot.server_detail
    if snapshot.server_phase == "unknown":
        return Awaited("SERVER", "Looking for a running SGLang server.", detail)
    if snapshot.server_phase == "none":
        remedy = "Start one, then press f5 to look again."
        where = _where(snapshot) if snapshot.nodes else "this host"
        return Awaited("SERVER", f"No SGLang server runs on {where}.", detail, remedy, WARN)
    if snapshot.server_phase == "exited":
        return Awaited(
            "SERVER", "The server has exited.", detail, "Press r to start it, f5 to look again.", WARN
        )
    if snapshot.server_phase == "failed":
        remedy = "Press r to change settings, or u for the last good configuration where there is one."
        return Awaited("SERVER", "The server failed.", detail, remedy, BAD)
    return None


def _probe(snapshot: Snapshot) -> Awaited:
    probe, message = snapshot.probe, snapshot.probe.message
    if snapshot.settings.is_baseline:
        text = "Speculation is off: there is no draft and verify cycle, one step gives one token."
        return Awaited("CYCLE", text, "", "Press r to switch speculation on.")
    if probe.status == "failed":
        text = "The probe took itself out after an error; the server goes on without it."
        return Awaited("CYCLE", text, message, "Press x to restore the worker file.", BAD)
    if probe.status == "silent":
        remedy = "The worker may have another cycle method: see the log, or press x to restore the file."
        return Awaited("CYCLE", "The probe is loaded but has never fired.", message, remedy, WARN)
    if probe.status == "off":
        return Awaited("CYCLE", "The probe is switched off.", message, "Press k to choose a clock.")
    if probe.status in {"waiting", "live"}:
        return Awaited("CYCLE", "The probe waits for decode cycles.", message, "Press l to send load.")
    if _patched(snapshot):
        text = "The probe is in the worker file and starts with the server."
        return Awaited("CYCLE", text, message, "Press r to restart the server.")
    text = "No phases are timed yet: the worker file holds no probe."
    return Awaited("CYCLE", text, message, "Press p to patch it, then r to restart the server.")


def _patched(snapshot: Snapshot) -> bool:
    return snapshot.worker_file is not None and snapshot.worker_file.state == FileState.PATCHED
