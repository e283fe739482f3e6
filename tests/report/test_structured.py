"""JSON and CSV for programs."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from support import example_session
from support.example_session import RUNS, SNAPSHOT

from specttui.events import Phase
from specttui.report import REPORT_FORMAT, REPORT_VERSION, ReportInput, to_csv, to_json
from specttui.report.structured import plain
from specttui.state.snapshot import Interval


def with_runs(*runs):
    return ReportInput(snapshot=replace(SNAPSHOT, runs=runs))


def rows(report):
    return list(csv.DictReader(io.StringIO(to_csv(report), newline="")))


def test_the_document_names_its_format_and_version_first():
    document = json.loads(to_json(example_session.report()))
    assert list(document.items())[:2] == [("format", REPORT_FORMAT), ("version", REPORT_VERSION)]
    assert (REPORT_FORMAT, REPORT_VERSION) == ("specttui-report", 1)


def test_figures_keep_their_full_precision():
    document = json.loads(to_json(example_session.report()))
    assert document["runs"][3]["throughput_tok_s"] == {"value": 94.1, "low": 93.8, "high": 94.4}
    assert document["runs"][1]["phase_ms"]["verify"] == 28.7
    assert document["worker_files"][0]["restored"] is True
    assert (document["fastest_run_ids"], document["runs_comparable"]) == ([4], True)


def test_shares_in_json_add_up_to_one():
    for run in json.loads(to_json(example_session.report()))["runs"][1:]:
        whole = {"draft", "verify", "draft_extend", "kv", "other"}
        assert sum(share for phase, share in run["phase_share"].items() if phase in whole) == pytest.approx(
            1.0
        )


def test_what_json_cannot_hold_becomes_null_or_a_mark():
    values = {"nan": float("nan"), "inf": float("-inf"), Phase.DRAFT: ("\udc80", 1, None, True)}
    assert plain(values) == {"nan": None, "inf": None, "draft": ["?", 1, None, True]}
    assert (
        json.loads(to_json(with_runs(replace(RUNS[0], cycle_ms=float("nan")))))["runs"][0]["cycle_ms"] is None
    )


def test_csv_has_one_row_per_run_and_every_row_all_columns():
    table = list(csv.reader(io.StringIO(to_csv(example_session.report()), newline="")))
    assert [len(row) for row in table] == [len(table[0])] * 5
    assert to_csv(example_session.report()).count("\r\n") == 5


def test_csv_cells_are_plain_figures():
    row = rows(example_session.report())[3]
    assert (row["run"], row["configuration"], row["baseline"]) == ("4", "steps 2, LL", "false")
    assert (row["server_tok_s"], row["server_tok_s_low"], row["server_tok_s_high"]) == (
        "94.1",
        "93.8",
        "94.4",
    )
    assert (row["change_vs_baseline"], row["significant"], row["verify_ms"]) == ("0.0597", "true", "18.83")
    assert (row["kv_ms"], row["ended_s"], row["verify_share"]) == ("", "", "0.967")


def test_what_is_unknown_is_empty_in_csv():
    (row,) = rows(with_runs(replace(RUNS[0], throughput_tok_s=None, cycle_ms=None)))
    assert (row["server_tok_s"], row["server_tok_s_low"], row["cycle_ms"], row["algorithm"]) == (
        "",
        "",
        "",
        "",
    )


def test_csv_without_runs_is_its_head():
    assert to_csv(with_runs()).count("\r\n") == 1


@pytest.mark.parametrize(
    ("label", "cell"),
    [
        ('a "quoted", label', 'a "quoted", label'),
        ("two\nlines", "two lines"),
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("@x", "'@x"),
        ("-1", "'-1"),
        (" =1", "'=1"),
        ("\x1b[31mred", "red"),
    ],
)
def test_csv_text_is_quoted_and_never_a_formula(label, cell):
    assert rows(with_runs(replace(RUNS[0], label=label)))[0]["configuration"] == cell


def test_negative_figures_are_not_taken_for_formulas():
    interval = Interval(-1.0, -2.0, 0.0)
    assert rows(with_runs(replace(RUNS[0], throughput_tok_s=interval)))[0]["server_tok_s"] == "-1.0"
