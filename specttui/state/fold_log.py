"""Folds what concerns SGLang's own log lines."""

from __future__ import annotations

from specttui import events as ev
from specttui.log.meaning.marks import Mark
from specttui.state.facts import Facts, Handler
from specttui.state.notices import EXPLAINS, LOSES_LINES, LOST_LINES, POOL_FULL, SERVER_ERRORS, alert_for

#: Different words of a server on its settings: more are a log gone wild.
_MOST_ADJUSTMENTS = 64


def _decode_line(facts: Facts, event: ev.DecodeStats) -> None:
    offset_s = facts.offset_s
    sample = facts.decode.add(offset_s, event)
    if sample is None:
        return
    facts.last_decode, facts.last_sample, facts.decode_offset_s = event, sample, offset_s
    facts.listed_server_is_up = True
    facts.log_problem = ""
    history = facts.history
    history["throughput"].add(offset_s, sample.server_tok_s if sample.measured else None)
    both = sample.mark is Mark.STEPS_CHANGED
    history["accept_len"].add(offset_s, None if both else sample.accept_len)
    history["running"].add(offset_s, sample.running)
    if not facts.window:
        history["cycle"].add(offset_s, sample.cycle_ms if sample.steady else None)
    if sample.lost:
        facts.add_alert(LOST_LINES)
    run = facts.run
    if run is not None:
        run.add_sample(sample)


def _prefill_line(facts: Facts, event: ev.PrefillStats) -> None:
    facts.decode.prefill(event)
    facts.prefill_count += 1
    facts.prefilled += event.new_sequences or 1


def _server_arguments(facts: Facts, event: ev.ServerArguments) -> None:
    if facts.listed_server_is_up:
        _another_server(facts)
    facts.arguments = event.arguments
    facts.compare_settings()
    if facts.run is not None and facts.server_phase == "serving":
        # A server's own start in the log of one that serves: what came before was another server's.
        facts.run.forget()
        facts.forget_figures()


def _argument_adjusted(facts: Facts, event: ev.ArgumentAdjusted) -> None:
    if facts.listed_server_is_up:
        _another_server(facts)
    known = any(event.text == each.text for each in facts.adjusted)
    if not known and len(facts.adjusted) < _MOST_ADJUSTMENTS:
        facts.adjusted.append(event)
        facts.compare_settings()


def _another_server(facts: Facts) -> None:
    """Words on settings come before the listing: after a server was up they are about the next one."""
    facts.listed_server_is_up = False
    facts.arguments, facts.adjusted = {}, []


def _startup_step(facts: Facts, event: ev.StartupStep) -> None:
    facts.last_output_s = facts.offset_s
    if event.phase == "ready":
        facts.listed_server_is_up = True


def _adaptive_switch(facts: Facts, event: ev.AdaptiveSwitch) -> None:
    run = facts.run
    if run is not None and run.switch(event, facts.offset_s):
        facts.decode.switch()
        facts.window = {}


def _memory_pressure(facts: Facts, event: ev.MemoryPressure) -> None:
    facts.decode.pressure(event)
    facts.add_alert(POOL_FULL)
    if facts.run is not None:
        facts.run.retracted += event.retracted or 1


def _http(facts: Facts, event: ev.HttpSeen) -> None:
    facts.last_output_s = facts.offset_s
    facts.http_ok += event.ok
    facts.http_client_errors += event.client_errors
    facts.http_server_errors += event.server_errors
    if event.server_errors and facts.server_phase == "serving":
        facts.add_alert(SERVER_ERRORS)


def _failure_seen(facts: Facts, event: ev.FailureSeen) -> None:
    if facts.being_ended:
        return  # a server that is ended complains, and more so when its peers on other hosts go first
    severity = ev.Severity.ERROR if event.fatal else ev.Severity.WARNING
    facts.add_alert(ev.Alert(severity=severity, message=event.title, remedy=event.remedy))


def _log_lines(facts: Facts, event: ev.LogLines) -> None:
    facts.log.extend(event.lines)
    facts.log_total += len(event.lines) + event.dropped
    facts.last_output_s = facts.offset_s


def _log_notice(facts: Facts, event: ev.LogNotice) -> None:
    text = f"-- log {event.what}" + (f": {event.detail}" if event.detail else "")
    facts.log.append(text)
    facts.log_total += 1
    alert = alert_for(event, stopping=facts.server_phase == "stopping")
    if alert is not None:
        facts.add_alert(alert)
    if event.what in EXPLAINS:
        facts.log_problem = event.detail or text
    elif event.what == "appeared":
        facts.log_problem = ""
    if event.what in LOSES_LINES and facts.run is not None:
        facts.run.suppressed += 1


HANDLERS: dict[type[ev.Event], Handler] = {
    ev.DecodeStats: _decode_line,
    ev.PrefillStats: _prefill_line,
    ev.ServerArguments: _server_arguments,
    ev.ArgumentAdjusted: _argument_adjusted,
    ev.StartupStep: _startup_step,
    ev.AdaptiveSwitch: _adaptive_switch,
    ev.MemoryPressure: _memory_pressure,
    ev.HttpSeen: _http,
    ev.FailureSeen: _failure_seen,
    ev.LogLines: _log_lines,
    ev.LogNotice: _log_notice,
}
