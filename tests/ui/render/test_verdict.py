from dataclasses import replace

import pytest
from support.scripted_snapshots import serving

from specttui.events import Alert, Severity
from specttui.state.snapshot import VerdictView
from specttui.ui.render.panel import Space
from specttui.ui.render.verdict import OUTCOMES, verdict_panel


def shown(snapshot, space):
    return verdict_panel(snapshot, space).fill(space).plain.split("\n")


def test_one_line_says_that_there_is_more():
    assert shown(serving(), Space(78, 1)) == [
        "VERDICT  PAYS  Accept length 1.83 is above break-even 1.73. Verify is 97 % …"
    ]


def test_framed_with_its_caveats():
    assert shown(serving(), Space(116, 3, framed=True)) == [
        "PAYS  Accept length 1.83 is above break-even 1.73. Verify is 97 % of the cycle.",
        "Holds for the load it was measured at: 1 request at a time, live traffic.",
    ]


def test_long_texts_wrap_beneath_their_start():
    lines = shown(serving(), Space(78, 4))
    assert lines[0].startswith("VERDICT  PAYS  Accept")
    assert lines[1] == "         the cycle."
    assert lines[2].startswith("         Holds for the load")


@pytest.mark.parametrize("outcome", ["pays", "costs", "even", "cannot_win", "unknown", "something new"])
def test_every_outcome_has_its_word(outcome):
    snapshot = replace(serving(), verdict=VerdictView(outcome, "Text."))
    word = OUTCOMES.get(outcome, OUTCOMES["unknown"])[0]
    assert shown(snapshot, Space(78, 1)) == [f"VERDICT  {word}  Text."]


def test_an_alert_is_shown_with_its_remedy_before_the_caveats():
    alert = Alert(severity=Severity.WARNING, message="KV pool is full", remedy="Lower the concurrency.")
    space = Space(116, 3, framed=True)
    lines = verdict_panel(serving(), space, alert).fill(space).plain.split("\n")
    assert lines[1] == "! KV pool is full. Lower the concurrency."
    assert lines[2].startswith("Holds for the load")
