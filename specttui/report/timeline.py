"""Events as lines of a timeline: what happened, in words; most kinds of event are no line at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specttui import events as ev
from specttui.report.facts import Moment, TimelineEntry

#: What any host may tell for itself; other entries are about the session or the server as a whole.
_OF_ANY_NODE = frozenset(
    {
        "connection_up", "connection_down", "alert", "worker_file", "server_not_found", "server_exited",
        "server_failed", "failure", "memory_pressure", "probe_error",
    }
)  # fmt: skip
#: What every host tells though it is about the server: only the head's word is taken.
_OF_THE_HEAD = frozenset(
    {
        "server_found", "server_stopping", "server_starting", "server_ready", "probe_installed",
        "probe_clock", "adaptive_switch",
    }
)  # fmt: skip


class Timeline:
    """Collects the key events; the same thing many times in a row on one host is one entry with a count."""

    def __init__(self) -> None:
        self._entries: list[TimelineEntry] = []
        self._kinds: list[str] = []
        self._last: dict[str, int] = {}

    def add(self, envelope: ev.Envelope, node: str = "") -> None:
        """Take the next event, in order.

        Args:
            envelope: The event.
            node: The host's name among several, "" for a single one and for the session as a whole.
        """
        text = line(envelope.event)
        if not text:
            return
        offset_s = envelope.offset_s
        number = self._last.get(node)
        if number is not None and self._repeats(number, envelope.event, text):
            last = self._entries[number]
            self._entries[number] = replace(last, count=last.count + 1, last_offset_s=offset_s)
            return
        self._last[node] = len(self._entries)
        moment = Moment(offset_s, envelope.at)
        self._entries.append(TimelineEntry(moment, text, last_offset_s=offset_s, node=node))
        self._kinds.append(envelope.event.kind)

    def entries(self, nodes: Sequence[str] = ()) -> tuple[TimelineEntry, ...]:
        """The timeline so far.

        Args:
            nodes: The hosts of a server that spans several, the head first.
        """
        return tuple(
            entry if _tells_of_itself(entry, kind, nodes) else replace(entry, node="")
            for entry, kind in zip(self._entries, self._kinds, strict=True)
            if not (entry.node and entry.node != nodes[0] and kind in _OF_THE_HEAD)
        )

    def _repeats(self, number: int, event: ev.AnyEvent, text: str) -> bool:
        if event.kind != self._kinds[number]:
            return False
        return isinstance(event, ev.MemoryPressure) or self._entries[number].text == text


def _tells_of_itself(entry: TimelineEntry, kind: str, nodes: Sequence[str]) -> bool:
    """False where an entry is about the whole server, or names the host that it is about by itself."""
    return kind in _OF_ANY_NODE and not any(f": {name}: " in entry.text for name in nodes)


def line(event: ev.AnyEvent) -> str:
    """One event in words, or "" when it does not belong on a timeline."""
    match event:
        case ev.SessionStarted():
            return f"Session on {event.target} started"
        case ev.NodesArranged():
            return f"Nodes by rank: {', '.join(event.nodes)}"
        case ev.SessionEnded():
            return _with("Session ended", event.reason)
        case ev.ConnectionUp():
            return "Connected again" if event.reconnected else "Connected"
        case ev.ConnectionDown():
            return _with("Connection lost", event.reason)
        case ev.RunStarted():
            return f"Run {event.run_id} began: {event.label}"
        case ev.RunEnded():
            return _with(f"Run {event.run_id} ended", event.reason)
        case _:
            return _user_line(event) or _server_line(event) or _probe_line(event)


def _user_line(event: ev.AnyEvent) -> str:
    match event:
        case ev.CommandFinished():
            return _with(f"Command {event.name} finished", event.detail)
        case ev.CommandFailed():
            return _with(f"Command {event.name} failed", event.title)
        case ev.NoteAdded():
            return f"Note: {event.text}"
        case ev.Alert():
            return f"{event.severity.value.capitalize()}: {event.message}"
        case ev.LoadStarted():
            return (
                f"Load {event.load_id} began: {event.requests} requests, {event.concurrency} at a time, "
                f"{event.max_new_tokens} tokens each"
            )
        case ev.LoadFinished():
            return _with(f"Load {event.load_id} ended: {event.done} done, {event.failed} failed", event.error)
        case _:
            return ""


def _server_line(event: ev.AnyEvent) -> str:
    match event:
        case ev.ServerFound():
            return f"Found a server: {event.server.model_path or 'model unknown'} (pid {event.server.pid})"
        case ev.ServerNotFound():
            return _with("No server found", event.reason)
        case ev.ServerStopping():
            return "Server stopped" if event.step == "stopped" else ""
        case ev.ServerStarting():
            return _with("Server starting", event.label)
        case ev.ServerReady():
            return "Server ready" + (f" after {event.elapsed_s:.1f} s" if event.elapsed_s is not None else "")
        case ev.ServerExited():
            code = f" with {event.exit_code}" if event.exit_code is not None else ""
            return _with(f"Server exited{code}{'' if event.expected else ' unexpectedly'}", event.detail)
        case ev.ServerFailed():
            return f"Server failed: {event.diagnosis.title}"
        case ev.FailureSeen():
            return f"In the log: {event.title}"
        case ev.MemoryPressure():
            return "KV cache pool full: requests retracted"
        case ev.WorkerFileChecked():
            return f"Worker file {event.state.value}: {event.path}"
        case _:
            return ""


def _probe_line(event: ev.AnyEvent) -> str:
    match event:
        case ev.ProbeInstalled():
            return f"Probe in {event.worker_class}, clock {event.clock.value}"
        case ev.ProbeClockChanged():
            return f"Probe clock {event.previous.value} to {event.clock.value}"
        case ev.ProbeError():
            return f"Probe took itself out: {event.message}"
        case ev.AdaptiveSwitch():
            return f"Adaptive speculation: steps {event.steps_before} to {event.steps_after}"
        case _:
            return ""


def _with(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text
