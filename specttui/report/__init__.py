"""Markdown, JSON, CSV and trace export: functions of a recording. Pure."""

from specttui.report.collect import collect
from specttui.report.facts import ReportInput
from specttui.report.markdown import markdown
from specttui.report.spreadsheet import to_csv
from specttui.report.structured import REPORT_FORMAT, REPORT_VERSION, to_json
from specttui.report.trace import to_trace, trace_parts

__all__ = [
    "REPORT_FORMAT",
    "REPORT_VERSION",
    "ReportInput",
    "collect",
    "markdown",
    "to_csv",
    "to_json",
    "to_trace",
    "trace_parts",
]
