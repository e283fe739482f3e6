import pytest
from rich.cells import cell_len
from textual.content import Content

from specttui.ui.render.digits import big
from specttui.ui.render.glyphs import BLOCKS
from specttui.ui.render.text import cut, cut_middle, fit, harmless, left, line, right, spread, wrap

NASTY = [
    "[rank0]:[E1206 ProcessGroupNCCL.cpp:616] watchdog",
    "[/bold] oh",
    "[type=x, v={'a[0]'}]",
    "[None]",
    "[red]not red[/red]",
    r"\[escaped]",
    "[@click=app.quit]no link[/]",
]


@pytest.mark.parametrize("text", NASTY)
def test_markup_in_text_is_text(text):
    assert line(text).plain == text
    assert line((text, "bold")).plain == text


def test_control_characters_become_spaces():
    assert harmless("a\tb\x1b[31m\nc\x85d\u2028e") == "a b [31m c d e"


def test_cut_shows_that_something_is_missing():
    assert cut("abcdef", 6, BLOCKS) == "abcdef"
    assert cut("abcdef", 4, BLOCKS) == "abc…"
    assert cut("abcdef", 0, BLOCKS) == ""


def test_cut_middle_keeps_both_ends():
    assert cut_middle("/opt/models/Kimi-K2.5", 13, BLOCKS) == "/opt…imi-K2.5"
    assert cut_middle("short", 13, BLOCKS) == "short"


def test_wide_characters_count_as_two_cells():
    assert cell_len(left("模型模型", 5, BLOCKS)) == 5
    assert cell_len(right("模型模型", 6, BLOCKS)) == 6


def test_padding():
    assert left("ab", 4, BLOCKS) == "ab  "
    assert right("ab", 4, BLOCKS) == "  ab"


def test_spread_puts_parts_at_both_ends_and_cuts_the_first():
    assert spread(Content("left"), Content("right"), 12).plain == "left   right"
    assert spread(Content("a long left part"), Content("right"), 12).plain == "a lon… right"
    assert spread(Content("left"), Content("too long"), 5).plain == "too …"


def test_fit_leaves_what_fits():
    assert fit(Content("abc"), 3).plain == "abc"
    assert fit(Content("abcd"), 3).plain == "ab…"


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("", 7, [""]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("a abcdefghij b", 4, ["a", "abcd", "efgh", "ij b"]),
    ],
)
def test_wrap(text, width, lines):
    assert wrap(text, width) == lines


def test_big_figures_have_three_rows_of_one_width():
    rows = big("94.1")
    assert [len(row) for row in rows] == [10, 10, 10]
    assert big("-") == ("   ", "╶─╴", "   ")
