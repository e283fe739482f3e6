"""Folds what concerns SGLang's own log lines."""

from __future__ import annotations

from specttui import events as ev
from specttui.state.facts import Facts, Handler


def _decode_line(facts: Facts, event: ev.DecodeStats) -> None:
    sample = facts.decode.add(facts.offset_s, event)
    if sample is None:
        return
    facts.last_decode = event
    facts.decode_offset_s = facts.offset_s
    shown = sample.server_tok_s if sample.steady else None
    facts.history["throughput"].add(facts.offset_s, shown)
    facts.history["accept_len"].add(facts.offset_s, sample.accept_len)
    facts.history["running"].add(facts.offset_s, sample.running)
    if not facts.window:
        facts.history["cycle"].add(facts.offset_s, sample.cycle_ms if sample.steady else None)
    if facts.run is not None:
        facts.run.add_sample(sample)


def _prefill_line(facts: Facts, event: ev.PrefillStats) -> None:
    del event
    facts.prefill_count += 1


def _server_arguments(facts: Facts, event: ev.ServerArguments) -> None:
    facts.arguments = event.arguments
    if facts.run is not None and facts.server_phase == "serving":
        # A server's own start in the log of one that serves: what came before was another server's.
        facts.forget_figures()
        facts.run.forget()


def _argument_adjusted(facts: Facts, event: ev.ArgumentAdjusted) -> None:
    if event.text not in facts.adjustments:
        facts.adjustments.append(event.text)


def _startup_step(facts: Facts, event: ev.StartupStep) -> None:
    del event
    facts.last_output_s = facts.offset_s


def _adaptive_switch(facts: Facts, event: ev.AdaptiveSwitch) -> None:
    if facts.run is not None:
        facts.run.switch(event)


def _memory_pressure(facts: Facts, event: ev.MemoryPressure) -> None:
    facts.decode.pressure(event)
    if facts.run is not None:
        facts.run.retracted += event.retracted or 1


def _http(facts: Facts, event: ev.HttpSeen) -> None:
    facts.http_ok += event.ok
    facts.http_errors += event.client_errors + event.server_errors


def _failure_seen(facts: Facts, event: ev.FailureSeen) -> None:
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
