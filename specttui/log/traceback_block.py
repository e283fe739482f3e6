"""One Python traceback, chained exceptions included, gathered from the lines it is spread over."""

from __future__ import annotations

import re

HEADER = "Traceback (most recent call last):"
_SCOPE = re.compile(r"(?P<who>[\w ]{1,60}?) hit an exception: *$")
_CHAINED = ("The above exception was the direct cause", "During handling of the above exception")
_EXCEPTION = re.compile(r"(?P<name>[A-Za-z_][\w.]{0,150})(?:: |:?$)")
# A function of our block, or a file of the import hook's folder.
_PROBE = re.compile(r"in _specttui\w*|/\.?specttui[\w.-]{0,60}(?:/[\w.-]{1,60}){0,3}\", line")
_MAX_FRAMES = 400
_MAX_MESSAGE = 30
_MAX_EXCEPTIONS = 8


class TracebackBlock:
    """Lines of one traceback. Keeps what a diagnosis needs, however long the traceback is."""

    __slots__ = (
        "_chained",
        "_in_message",
        "_message_lines",
        "exceptions",
        "frames",
        "phase",
        "rank",
        "scope",
        "stamp",
    )

    def __init__(self, before: str, rank: str, stamp: str, phase: str) -> None:
        found = _SCOPE.search(before)
        self.scope = found["who"].strip() if found else before.strip(" :")
        self.rank, self.stamp, self.phase = rank, stamp, phase
        self.frames: list[str] = []
        self.exceptions: list[list[str]] = []
        self._in_message = False
        self._chained = False
        self._message_lines = 0

    def take(self, text: str) -> bool:
        """Take the next line if it belongs to this traceback.

        Args:
            text: An unstamped line.

        Returns:
            False when the line is not part of the traceback, which is then complete.
        """
        if text.startswith(_CHAINED):
            self._chained, self._in_message = True, False
            return True
        if text.startswith(HEADER):
            return self._take_header()
        if not self._in_message:
            return self._take_frame_or_exception(text)
        self._message_lines += 1
        if self._message_lines > _MAX_MESSAGE or text.startswith("["):
            return False  # an exception's message does not begin a line with a bracket; other output does
        self.exceptions[-1].append(text)
        return True

    @property
    def complete(self) -> bool:
        """True once an exception line was seen: nothing more need come."""
        return bool(self.exceptions) and self._in_message

    @property
    def text(self) -> str:
        """All exceptions of the chain with their messages; the last one, which names the outcome, first."""
        return "\n".join("\n".join(lines) for lines in reversed(self.exceptions))

    @property
    def last(self) -> str:
        """The last exception's line."""
        return self.exceptions[-1][0] if self.exceptions else ""

    @property
    def exception(self) -> str:
        """The last exception's class, without its module."""
        found = _EXCEPTION.match(self.last)
        return found["name"].rpartition(".")[2] if found else ""

    @property
    def frame_text(self) -> str:
        """The frames, for rules that ask where it happened."""
        return "\n".join(self.frames)

    @property
    def probe_frame(self) -> str:
        """Our block's part: "innermost" if it raised, "outer" if the traceback passes through it, or ""."""
        files = [line for line in self.frames if line.lstrip().startswith("File ")]
        ours = [bool(_PROBE.search(line)) for line in files]
        if not any(ours):
            return ""
        return "innermost" if ours[-1] else "outer"

    def relevant_lines(self, most: int) -> tuple[str, ...]:
        """The lines to show first: SGLang's and the very innermost frame, then the exceptions."""
        frames = [index for index, line in enumerate(self.frames) if line.lstrip().startswith("File ")]
        sglang = [index for index in frames if "/sglang/" in self.frames[index]]
        shown = dict.fromkeys([*sglang[-1:], *frames[-1:]])
        inner = [line for index in shown for line in self.frames[index : index + 2] if line.strip(" ^~")]
        messages = [line for lines in self.exceptions for line in lines if line.strip()]
        return tuple(dict.fromkeys([*inner, *messages]))[:most]

    def _take_header(self) -> bool:
        if self._in_message:
            return False
        self._chained = False
        return True

    def _take_frame_or_exception(self, text: str) -> bool:
        if text[:1].isspace():
            if len(self.frames) >= _MAX_FRAMES:
                del self.frames[: _MAX_FRAMES // 2]
            self.frames.append(text)
            return True
        if self._chained or not _EXCEPTION.match(text):
            return False
        if len(self.exceptions) < _MAX_EXCEPTIONS:
            self.exceptions.append([text])
        else:
            self.exceptions[-1] = [text]
        self._in_message, self._message_lines = True, 0
        return True
