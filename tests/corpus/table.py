"""The corpus test's result as a table for docs/: release by family by phase."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from specttui.probe import Inspection, inspect

#: A letter per phase, in the order of the cycle.
LETTERS = {
    "draft": "D",
    "verify": "V",
    "target_forward": "t",
    "accept": "a",
    "draft_extend": "X",
    "kv": "k",
    "prefill_target": "P",
    "prefill_draft": "p",
    "accept_counts": "n",
}
FAMILIES = (
    "EAGLE v1", "EAGLE v2", "STANDALONE", "multi-layer EAGLE v1", "multi-layer EAGLE v2", "NGRAM v1",
    "NGRAM v2", "DFLASH v1", "DFLASH v2", "frozen-KV MTP v1", "frozen-KV MTP v2", "DSPARK", "UNO",
)  # fmt: skip

_HEAD = """\
# What the probe finds in every SGLang release

Written by `pytest tests/corpus --all-releases`, which reads the worker files of every release on PyPI that
has a speculative worker, without running SGLang. A letter is a phase found in the file, a dot one that is
not:
{legend}.
"->" is a worker that inherits the cycle of another file, which is the one to patch; an empty cell is a
family that the release does not have. `k` counts what the file itself names: at run time the
allocator is hooked on the live instance wherever it is called from.
"""


def render_table(releases: Sequence[str], worker_files: Callable[[str], dict[str, bytes]]) -> str:
    """Markdown, one row per release.

    Args:
        releases: In the order of the rows.
        worker_files: The worker files of a release, by name.
    """
    legend = ", ".join(f"{letter} {phase}" for phase, letter in LETTERS.items())
    lines = [_HEAD.format(legend=legend)]
    lines.append("| release | " + " | ".join(FAMILIES) + " |")
    lines.append("|---" * (len(FAMILIES) + 1) + "|")
    for release in releases:
        cells: dict[str, list[str]] = {family: [] for family in FAMILIES}
        for source in worker_files(release).values():
            inspection = inspect(source)
            cells[inspection.family].append(_cell(inspection))
        row = [" ".join(dict.fromkeys(cells[family])) for family in FAMILIES]
        lines.append(f"| {release} | " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def _cell(inspection: Inspection) -> str:
    if inspection.cycle_module:
        return "->"
    return "".join(letter if phase in inspection.found else "." for phase, letter in LETTERS.items())
