"""Hostile text in markdown, checked with a real markdown parser."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from specttui.report.blocks import bullets, table
from specttui.report.escape import clean, code, code_cell, escape, fence, sentence

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
#: Text weighted towards what means something in markdown, HTML or a terminal.
NASTY = st.text(
    alphabet=st.one_of(
        st.sampled_from("|`*_~<>[]()#+-=!\\&$:;\"'\n\r\t\x1b\x00\x07 1.ax"), st.characters(codec="utf-8")
    ),
    max_size=40,
)


def shown(rendered):
    """The text of rendered HTML; fails on any tag that is not the expected frame."""
    return html.unescape(re.sub(r"<[^>]*>", "", rendered))


def tags(rendered):
    return re.findall(r"<(\w+)", rendered)


def squeezed(text):
    return " ".join(text.split())


@given(NASTY)
def test_in_a_table_cell_the_text_shows_as_it_is_and_does_nothing(text):
    rendered = PARSER.render(table(("a", "b"), [("x", escape(text))]))
    assert tags(rendered) == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]
    assert squeezed(shown(rendered)) == squeezed(f"a b x {clean(text)}")


@given(NASTY)
def test_in_a_list_item_the_text_shows_as_it_is_and_does_nothing(text):
    rendered = PARSER.render(bullets([escape(text), "next"]))
    assert tags(rendered) == ["ul", "li", "li"]
    assert squeezed(shown(rendered)) == squeezed(f"{clean(text)} next")


@given(NASTY)
def test_a_code_span_shows_its_text(text):
    rendered = PARSER.render(f"- {code(text)}")
    assert tags(rendered) == ["ul", "li", *(["code"] if clean(text) else [])]
    assert squeezed(shown(rendered)) == squeezed(clean(text))


@given(NASTY)
def test_a_code_span_in_a_table_cell_shows_its_text_in_its_cell(text):
    rendered = PARSER.render(table(("a", "b"), [(code_cell(text), "x")]))
    assert tags(rendered).count("td") == 2
    assert squeezed(shown(rendered)) == squeezed(f"a b {clean(text)} x")


@given(st.lists(NASTY, max_size=4))
def test_a_fence_holds_its_lines_and_ends(lines):
    block, *after = PARSER.parse(fence(lines) + "\n\nafter")
    assert (block.type, [token.type for token in after]) == (
        "fence",
        ["paragraph_open", "inline", "paragraph_close"],
    )
    assert [line.strip() for line in block.content.split("\n")[:-1]] == [clean(line) for line in lines]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mred\x1b[0m b", "ared b"),
        ("\x1b]0;title\x07text", "text"),
        ("one\r\ntwo\tthree\u2028four", "one  two three four"),
        ("bell\x07", "bell\ufffd"),
        ("abc\u202egpj", "abc\ufffdgpj"),
        ("zero\u200bwidth", "zero\ufffdwidth"),
        ("\udc80", "\ufffd"),
        ("  kept ü 日本  ", "kept ü 日本"),
    ],
)
def test_clean_leaves_one_line_of_visible_text(text, expected):
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NCCL_PROTO=LL, steps 5 -> 2 (+6.0 %)", "NCCL_PROTO=LL, steps 5 -> 2 (+6.0 %)"),
        ("0.5.12", "0.5.12"),
        ("1. not a list", "1\\. not a list"),
        ("- not a list", "\\- not a list"),
        ("# not a heading", "\\# not a heading"),
        ("> not a quote", "\\> not a quote"),
        ("_private_ a_b", "\\_private\\_ a_b"),
        ("a | b", "a \\| b"),
        ("&lt; <b>", "&amp;lt; &lt;b>"),
        ("[x](javascript:1)", "\\[x\\](javascript:1)"),
        ("", ""),
    ],
)
def test_escape_marks_only_what_would_mean_something(text, expected):
    assert escape(text) == expected


def test_code_spans_use_enough_backticks():
    assert [code(text) for text in ("plain", "a`b", "``", "")] == ["`plain`", "``a`b``", "``` `` ```", ""]
    assert [code_cell(text) for text in ("a`b", "a|b", "a\\|b")] == ["``a`b``", "a\\|b", "a\\\\\\|b"]


def test_fences_are_longer_than_what_they_hold_and_keep_the_indent():
    assert fence(["  --flag x", "````", "a\nb"], "sh") == "`````sh\n  --flag x\n````\na b\n`````"
    assert fence([]) == "```text\n```"


def test_sentences_end_once():
    assert [sentence(text) for text in ("so", "so.", "why?", "")] == ["so.", "so.", "why?", ""]
