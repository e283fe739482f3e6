"""Events as lines of a timeline: what happened, in words; most kinds of event are no line at all."""

from __future__ import annotations

from dataclasses import replace

from specttui import events as ev
from specttui.report.facts import Moment, TimelineEntry


class Timeline:
    """Collects the key events; the same thing many times in a row is one entry with a count."""

    def __init__(self) -> None:
        self._entries: list[TimelineEntry] = []
        self._last_kind = ""

    def add(self, envelope: ev.Envelope) -> None:
        """Take the next event, in order."""
        text = line(envelope.event)
        if not text:
            return
        offset_s = envelope.offset_s
        if self._repeats(envelope.event, text):
            last = self._entries[-1]
            self._entries[-1] = replace(last, count=last.count + 1, last_offset_s=offset_s)
        else:
            self._entries.append(TimelineEntry(Moment(offset_s, envelope.at), text, last_offset_s=offset_s))
        self._last_kind = envelope.event.kind

    def entries(self) -> tuple[TimelineEntry, ...]:
        """The timeline so far."""
        return tuple(self._entries)

    def _repeats(self, event: ev.AnyEvent, text: str) -> bool:
        if event.kind != self._last_kind:
            return False
        return isinstance(event, ev.MemoryPressure) or self._entries[-1].text == text


def line(event: ev.AnyEvent) -> str:
    """One event in words, or "" when it does not belong on a timeline."""
    match event:
        case ev.SessionStarted():
            return f"Session on {event.target} started"
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
