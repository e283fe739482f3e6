"""The one door to the user's terminal for commands without the screen: nothing remote can act on it.

What a host says (names, paths, log lines, errors, prompts) may hold escape sequences that move the cursor,
set the title or write the clipboard. Everything the command line prints goes through `plain`.
"""

from __future__ import annotations

import sys
from typing import TextIO

from specttui.log.text import clean


def plain(text: str) -> str:
    """A text of several lines with nothing in it that a terminal acts upon but its line breaks."""
    return "\n".join(clean(line) for line in text.split("\n"))


def say(text: str, *, end: str = "\n", stream: TextIO | None = None) -> None:
    """Print a text on standard output, or another stream, made plain.

    Args:
        text: Any text, remote or ours.
        end: What follows it.
        stream: Where to; standard output when None.
    """
    target = stream or sys.stdout
    written = plain(text)
    encoding = target.encoding or "utf-8"
    # A terminal that cannot show a character gets a question mark, not a traceback.
    target.write(written.encode(encoding, "replace").decode(encoding) + end)
    target.flush()
