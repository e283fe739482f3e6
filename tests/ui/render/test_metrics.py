import math
from dataclasses import replace

import pytest
from support.scripted_snapshots import BASELINE, connected, serving, starting

from specttui.state.snapshot import Series
from specttui.ui.render.glyphs import ASCII
from specttui.ui.render.metrics import accept_panel, histogram_panel, throughput_panel
from specttui.ui.render.panel import Space

SMALL = Space(38, 3)
LARGE = Space(36, 6, framed=True)


def text(panel, space):
    return panel.fill(space).plain.split("\n")


def test_small_throughput_has_unit_window_change_and_scale():
    heading, figure, line = text(throughput_panel(serving(), SMALL), SMALL)
    assert heading == "THROUGHPUT  tok/s, server, 60 s"
    assert figure == "  94.1  +6.0 % vs baseline"
    assert line.endswith(" 0-100")
    assert len(line) == 38


def test_small_accept_length_stands_against_break_even():
    heading, figure, line = text(accept_panel(serving(), SMALL), SMALL)
    assert heading == "ACCEPT LENGTH  tokens/cycle, 60 s"
    assert figure == "  1.83  > break-even 1.73  rate 0.42"
    assert line.endswith(" 1-3")


def test_large_panel_has_big_digits_beside_the_notes():
    lines = text(throughput_panel(serving(), LARGE), LARGE)
    assert lines[0] == "╭─╮╷ ╷ ╶╮    +6.0 % vs baseline"
    assert lines[1] == "╰─┤╰─┤  │    computed 93.9"
    assert len(lines) == 6


def test_ascii_has_no_big_digits():
    space = replace(LARGE, glyphs=ASCII)
    assert "\n".join(text(throughput_panel(serving(), space), space)).isascii()


def test_accept_scale_gives_way_to_data_beyond_it():
    wild = replace(serving(), accept_len=Series((600.0,), (7.0,)), accept_len_now=7.0)
    assert text(accept_panel(wild, SMALL), SMALL)[2].endswith(" 1-8")


@pytest.mark.parametrize(
    ("measured", "computed", "note"),
    [(94.1, 93.9, "computed 93.9"), (94.1, 60.0, "computed 60.0, differs")],
)
def test_measured_beside_computed(measured, computed, note):
    snapshot = replace(serving(), throughput_now=measured, computed_tok_s=computed)
    assert note in text(throughput_panel(snapshot, LARGE), LARGE)[1]


def test_within_noise_is_said():
    runs = tuple(replace(run, significant=False) if run.current else run for run in serving().runs)
    space = Space(60, 3)
    assert (
        "+6.0 % vs baseline, within noise"
        in text(throughput_panel(replace(serving(), runs=runs), space), space)[1]
    )


def test_empty_states_say_what_is_awaited():
    wide = Space(80, 3)
    assert text(throughput_panel(connected(), wide), wide)[1] == (
        "No decode lines yet: waiting for traffic; press l to send load."
    )
    assert text(throughput_panel(starting(), wide), wide)[1] == "Waiting for the server to be ready."
    baseline = replace(connected(), settings=BASELINE)
    assert text(accept_panel(baseline, wide), wide)[1] == "Speculation is off: one token per step."


def test_nan_never_shows():
    snapshot = replace(
        serving(),
        throughput_now=math.nan,
        throughput=Series((599.0, 600.0), (math.nan, 90.0)),
        accept_len_now=math.inf,
        accept_rate_now=math.nan,
        computed_tok_s=math.inf,
    )
    shown = "\n".join(
        text(throughput_panel(snapshot, SMALL), SMALL) + text(accept_panel(snapshot, SMALL), SMALL)
    )
    assert "nan" not in shown
    assert "inf" not in shown


def test_histogram_shares_sum_to_100():
    space = Space(40, 4, framed=True)
    lines = text(histogram_panel(serving(), space), space)
    shares = [float(row.split()[-2]) for row in lines]
    assert shares == [46.0, 25.0, 29.0]
    assert lines[0].startswith("  0  █")


def test_histogram_without_counts():
    space = Space(40, 4, framed=True)
    assert text(histogram_panel(connected(), space), space) == ["No counts yet."]


def test_why_there_are_no_figures_is_said_where_they_would_be():
    why = "At --log-level warning the server prints no decode lines. Restart without that flag."
    quiet = replace(connected(), throughput=Series(), throughput_now=None, throughput_note=why)
    shown = " ".join(" ".join(text(throughput_panel(quiet, Space(60, 5)), Space(60, 5))).split())
    assert why in shown
