"""Building blocks of the markdown: tables, lists, sections. Cells and items arrive escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = ()) -> str:
    """A table; the columns named in `numbers` are set to the right.

    Args:
        header: The column heads.
        rows: Cells, already escaped; an empty cell stays empty.
        numbers: Those heads of `header` whose column holds figures.
    """
    rule = ("---:" if head in numbers else "---" for head in header)
    return "\n".join(_row(cells) for cells in (header, list(rule), *rows))


def bullets(items: Iterable[str]) -> str:
    """A list, one item per line."""
    return "\n".join(f"- {item}" for item in items)


def section(title: str, *blocks: str, level: int = 2) -> str:
    """A heading and its blocks; "" when every block is empty, so that no section stands for nothing."""
    present = [block for block in blocks if block]
    return "\n\n".join([f"{'#' * level} {title}", *present]) if present else ""


def document(*blocks: str) -> str:
    """Blocks one after another, empty ones left out, with one newline at the end."""
    return "\n\n".join(block for block in blocks if block) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
