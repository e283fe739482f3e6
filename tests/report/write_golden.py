"""Writes the golden files anew: `PYTHONPATH=tests python tests/report/write_golden.py`; read the diff."""

from __future__ import annotations

from pathlib import Path

from support import example_session

from specttui import report

GOLDEN = Path(__file__).parent / "golden"


def exports() -> dict[str, bytes]:
    """Every export of the example session, by file name."""
    facts = example_session.report()
    return {
        "report.md": report.markdown(facts).encode(),
        "report.json": report.to_json(facts).encode(),
        "runs.csv": report.to_csv(facts).encode(),
        "trace.json": report.to_trace(example_session.envelopes()).encode(),
    }


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, data in exports().items():
        (GOLDEN / name).write_bytes(data)
