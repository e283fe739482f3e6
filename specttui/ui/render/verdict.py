"""The verdict: whether speculation pays, in words that name what they rest on."""

from __future__ import annotations

from textual.content import Content

from specttui.events import Alert, Severity
from specttui.state.snapshot import Snapshot
from specttui.ui.render.panel import Panel, Space
from specttui.ui.render.text import BAD, GOOD, HEADING, MUTED, STRONG, WARN, fit, harmless, line, wrap

#: An outcome's word on the screen, with its style.
OUTCOMES = {
    "pays": ("PAYS", GOOD),
    "costs": ("COSTS", BAD),
    "even": ("EVEN", WARN),
    "cannot_win": ("CANNOT WIN", BAD),
    "unknown": ("NOT KNOWN YET", MUTED),
}
_ALERT_STYLES = {Severity.INFO: MUTED, Severity.WARNING: "$text-warning", Severity.ERROR: "$text-error"}


def verdict_lines(snapshot: Snapshot, width: int, alert: Alert | None = None) -> list[Content]:
    """The verdict's text, a recent alert, and the verdict's caveats, wrapped to a width."""
    verdict = snapshot.verdict
    word, style = OUTCOMES.get(verdict.outcome, OUTCOMES["unknown"])
    text = harmless(verdict.text)
    label = f"{word}  "
    head = wrap(text, max(10, width - len(label)))
    lines = [line((label, style), (head[0], STRONG))]
    lines.extend(line((row, STRONG)) for row in wrap(" ".join(head[1:]), width) if row)
    lines.extend(_alert_lines(alert, width) if alert is not None else [])
    for caveat in verdict.caveats:
        lines.extend(line((row, MUTED)) for row in wrap(harmless(caveat), width))
    return lines


def _alert_lines(alert: Alert, width: int) -> list[Content]:
    """An alert with its remedy, marked with !."""
    first, *more = wrap(
        harmless(f"{alert.message}. {alert.remedy}" if alert.remedy else alert.message), width - 2
    )
    style = _ALERT_STYLES[alert.severity]
    return [line(("! ", style), (first, style)), *(line("  ", (row, style)) for row in more)]


def verdict_panel(snapshot: Snapshot, space: Space, alert: Alert | None = None) -> Panel:
    """The verdict in the rows there are; the last one says when there is more."""
    if space.framed:
        return Panel("VERDICT", "", tuple(_clip(verdict_lines(snapshot, space.width, alert), space)))
    indent = "VERDICT  "
    first, *more = verdict_lines(snapshot, space.width - len(indent), alert)
    lines = [line((indent, HEADING), first), *(line(" " * len(indent), row) for row in more)]
    return Panel("", "", tuple(_clip(lines, space)))


def _clip(lines: list[Content], space: Space) -> list[Content]:
    """The lines that fit; an ellipsis at the end of the last says that there are more."""
    if len(lines) <= space.rows or not space.rows:
        return lines[: space.rows]
    last = lines[space.rows - 1]
    if last.cell_length > space.width - 2:
        last = fit(last, space.width - 2, ellipsis=False)
        last = last[: max(1, last.plain.rfind(" "))]
    return [*lines[: space.rows - 1], line(last, (f" {space.glyphs.ellipsis}", MUTED))]
