"""The report's parts that tell what happened when: commands, notes, alerts, the timeline."""

from __future__ import annotations

from specttui.report.blocks import bullets, table
from specttui.report.escape import code_cell, escape, sentence
from specttui.report.facts import CommandFact, Moment, ReportInput, TimelineEntry
from specttui.report.figures import elapsed, number, utc_time


def commands(report: ReportInput) -> str:
    """Every command of the user's and what came of it."""
    if not report.commands:
        return ""
    header = ("after", "time (UTC)", "command", "what it does", "outcome", "seconds")
    return table(header, [_command_row(command) for command in report.commands], numbers=("seconds",))


def notes(report: ReportInput) -> str:
    """The user's notes with their times."""
    return bullets(f"{_when(note.moment)}: {escape(note.text)}" for note in report.notes)


def alerts(report: ReportInput) -> str:
    """Every different alert, once."""
    return bullets(
        f"{_when(alert.moment)}, {alert.severity.value}: {_at(alert.node)}{sentence(alert.message)}"
        + (f" Came {alert.count} times." if alert.count > 1 else "")
        + (f" What to do: {escape(alert.remedy)}" if alert.remedy else "")
        for alert in report.alerts
    )


def timeline(report: ReportInput) -> str:
    """The key events."""
    if not report.timeline:
        return ""
    return table(("after", "time (UTC)", "what"), [_timeline_row(entry) for entry in report.timeline])


def _command_row(command: CommandFact) -> tuple[str, ...]:
    outcome = f"{command.outcome}: {sentence(command.result)}" if command.result else command.outcome
    if command.remedy:
        outcome += f" What to do: {escape(command.remedy)}"
    return (
        elapsed(command.started.offset_s),
        utc_time(command.started.at),
        escape(command.name),
        code_cell(command.detail),
        outcome,
        number(command.seconds, 1),
    )


def _timeline_row(entry: TimelineEntry) -> tuple[str, ...]:
    text = _at(entry.node) + escape(entry.text)
    if entry.count > 1:
        text += f" ({entry.count} times, last after {elapsed(entry.last_offset_s)})"
    return (elapsed(entry.moment.offset_s), utc_time(entry.moment.at), text)


def _at(node: str) -> str:
    """The host's name before what it tells, where there are several."""
    return f"{escape(node)}: " if node else ""


def _when(moment: Moment) -> str:
    return f"{elapsed(moment.offset_s)} ({utc_time(moment.at)} UTC)"
