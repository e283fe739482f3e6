"""Each export format against a file of its own, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import example_session

from specttui import report

GOLDEN = Path(__file__).parent / "golden"
HOW = "after a wanted change: PYTHONPATH=tests python tests/report/write_golden.py, then read the diff"


@pytest.mark.parametrize(
    ("name", "export"),
    [
        ("report.md", lambda: report.markdown(example_session.report())),
        ("report.json", lambda: report.to_json(example_session.report())),
        ("runs.csv", lambda: report.to_csv(example_session.report())),
        ("trace.json", lambda: report.to_trace(example_session.envelopes())),
    ],
)
def test_the_export_is_what_it_was(name, export):
    assert export().encode() == (GOLDEN / name).read_bytes(), HOW


@pytest.mark.parametrize("name", ["report.json", "trace.json"])
def test_golden_json_is_json(name):
    assert isinstance(json.loads((GOLDEN / name).read_bytes()), dict)
