"""The verdict: whether speculation pays, in words that name what they rest on."""

from __future__ import annotations

from textual.content import Content

from specttui.events import Severity
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
_ALERT_STYLES = {Severity.INFO: MUTED, Severity.WARNING: WARN, Severity.ERROR: BAD}


def verdict_lines(snapshot: Snapshot, width: int) -> list[Content]:
    """The verdict's text, its caveats, and the newest alert, wrapped to a width."""
    verdict = snapshot.verdict
    word, style = OUTCOMES.get(verdict.outcome, OUTCOMES["unknown"])
    text = harmless(verdict.text)
    label = f"{word}  "
    head = wrap(text, max(10, width - len(label)))
    lines = [line((label, style), (head[0], STRONG))]
    lines.extend(line((row, STRONG)) for row in wrap(" ".join(head[1:]), width) if row)
    if (alert := alert_line(snapshot)) is not None:
        lines.append(alert)
    for caveat in verdict.caveats:
        lines.extend(line((row, MUTED)) for row in wrap(harmless(caveat), width))
    return lines


def alert_line(snapshot: Snapshot) -> Content | None:
    """The newest alert that is more than information, with its remedy."""
    alert = next((alert for alert in reversed(snapshot.alerts) if alert.severity != Severity.INFO), None)
    if alert is None:
        return None
    remedy = f"  {harmless(alert.remedy)}" if alert.remedy else ""
    return line(("! ", _ALERT_STYLES[alert.severity]), harmless(alert.message), (remedy, MUTED))


def verdict_panel(snapshot: Snapshot, space: Space) -> Panel:
    """The verdict in the rows there are; the last one says when there is more."""
    if space.framed:
        return Panel("VERDICT", "", tuple(_clip(verdict_lines(snapshot, space.width), space)))
    indent = "VERDICT  "
    first, *more = verdict_lines(snapshot, space.width - len(indent))
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
