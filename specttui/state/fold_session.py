"""Folds what concerns the session, its connection, runs, commands and notes."""

from __future__ import annotations

from specttui import events as ev
from specttui.log.meaning.settings import SettingDifference, concurrency_warning
from specttui.state.facts import Facts, Handler
from specttui.state.runs import RunFold
from specttui.state.snapshot import CommandView


def _session_started(facts: Facts, event: ev.SessionStarted) -> None:
    facts.session = event
    facts.started_at = facts.at - facts.offset_s


def _session_ended(facts: Facts, event: ev.SessionEnded) -> None:
    facts.ended = event
    facts.connection = "down"
    facts.connection_detail = event.reason


def _nodes_arranged(facts: Facts, event: ev.NodesArranged) -> None:
    facts.nodes_by_rank = event.nodes


def _connection_up(facts: Facts, event: ev.ConnectionUp) -> None:
    facts.connection = "up"
    facts.connection_detail = ""
    facts.latency_ms = event.latency_ms


def _connection_down(facts: Facts, event: ev.ConnectionDown) -> None:
    facts.connection = "down"
    facts.connection_detail = event.reason


def _connection_retrying(facts: Facts, event: ev.ConnectionRetrying) -> None:
    facts.connection = "retrying"
    facts.connection_detail = f"attempt {event.attempt} in {event.delay_s:.0f} s: {event.reason}"


def _run_started(facts: Facts, event: ev.RunStarted) -> None:
    _end_run(facts)
    facts.launch = event.launch
    facts.runs.append(RunFold.begin(event, facts.offset_s))
    facts.compare_settings()
    facts.forget_figures()


def _run_ended(facts: Facts, event: ev.RunEnded) -> None:
    del event
    _end_run(facts)


def _end_run(facts: Facts) -> None:
    if facts.run is not None:
        facts.run.ended_s = facts.offset_s


def _command_started(facts: Facts, event: ev.CommandStarted) -> None:
    facts.command = CommandView(event.name, event.detail, "running")


def _command_finished(facts: Facts, event: ev.CommandFinished) -> None:
    facts.command = CommandView(event.name, event.detail, "finished")


def _command_failed(facts: Facts, event: ev.CommandFailed) -> None:
    facts.command = CommandView(event.name, "", "failed", event.title, event.cause, event.remedy)


def _note(facts: Facts, event: ev.NoteAdded) -> None:
    facts.notes.append(event.text)


def _alert(facts: Facts, event: ev.Alert) -> None:
    facts.add_alert(event)


def _load_started(facts: Facts, event: ev.LoadStarted) -> None:
    facts.load = f"load: 0/{event.requests} requests, {event.concurrency} at a time"
    warning = _too_many_at_once(facts, event.concurrency)
    if warning is not None:
        facts.add_alert(ev.Alert(severity=ev.Severity.WARNING, message=warning))


def _too_many_at_once(facts: Facts, concurrency: int) -> str | None:
    """CASES.md A17: with speculation the server lets fewer requests run than the baseline does."""
    limit, run = facts.compared.max_running, facts.run
    if limit is None or run is None or run.settings.is_baseline:
        return None
    return concurrency_warning(concurrency, [SettingDifference("max_running_requests", None, str(limit))])


def _load_progressed(facts: Facts, event: ev.LoadProgressed) -> None:
    facts.load = f"load: {event.done} requests done" + (f", {event.failed} failed" if event.failed else "")


def _load_finished(facts: Facts, event: ev.LoadFinished) -> None:
    rate = f"{event.client_tok_s:.1f} tok/s seen by the client" if event.client_tok_s else event.error
    facts.load = f"load done: {event.done} requests, {rate}"


HANDLERS: dict[type[ev.Event], Handler] = {
    ev.SessionStarted: _session_started,
    ev.SessionEnded: _session_ended,
    ev.NodesArranged: _nodes_arranged,
    ev.ConnectionUp: _connection_up,
    ev.ConnectionDown: _connection_down,
    ev.ConnectionRetrying: _connection_retrying,
    ev.RunStarted: _run_started,
    ev.RunEnded: _run_ended,
    ev.CommandStarted: _command_started,
    ev.CommandFinished: _command_finished,
    ev.CommandFailed: _command_failed,
    ev.NoteAdded: _note,
    ev.Alert: _alert,
    ev.LoadStarted: _load_started,
    ev.LoadProgressed: _load_progressed,
    ev.LoadFinished: _load_finished,
}
