"""What argparse prints about a command line it refuses: hundreds of lines of usage, then one error."""

from __future__ import annotations

import difflib
import re

from specttui.events import FailureSeen
from specttui.log.remedies import REMEDIES

_ERROR = re.compile(r"\S.{0,100}?: error: (?P<error>.{1,2000})$")
_FLAG = re.compile(r"--[a-z0-9][a-z0-9-]{1,60}")
_ARGUMENT = re.compile(r"argument (?P<flag>[-\w/]{1,200}): (?P<why>.{1,500})")
_MAX_FLAGS = 4000


class UsageBlock:
    """Gathers the flags that the usage names, to suggest the one that was meant, until the error line."""

    __slots__ = ("_flags",)

    def __init__(self) -> None:
        self._flags: set[str] = set()

    def take(self, text: str) -> FailureSeen | bool:
        """Take the next line.

        Args:
            text: An unstamped line.

        Returns:
            The failure at the error line; else whether the line belongs to the block.
        """
        error = _ERROR.match(text)
        if error is not None and not text[:1].isspace():
            return self._failure(text, error["error"])
        if not text.startswith(("usage: ", " ")):
            return False
        if len(self._flags) < _MAX_FLAGS:
            self._flags.update(_FLAG.findall(text[:2000]))
        return True

    def _failure(self, text: str, error: str) -> FailureSeen:
        if error.startswith(("unrecognized arguments:", "ambiguous option:")):
            return self._unknown_flag(text, error.partition(": ")[2])
        argument = _ARGUMENT.match(error)
        if argument is not None:
            flag = argument["flag"].rpartition("/")[2]
            details = {"flag": flag, "why": argument["why"]}
            return _failure("bad_value", f"{flag}: {argument['why']}", text, REMEDIES["bad_value"], details)
        if error.startswith("the following arguments are required"):
            return _failure("missing_arguments", error.capitalize(), text, "Give the arguments named.", {})
        return _failure("bad_flag", f"The command line is refused: {error}", text, REMEDIES["bad_flag"], {})

    def _unknown_flag(self, text: str, arguments: str) -> FailureSeen:
        flag = next((word for word in arguments.split() if word.startswith("-")), arguments).partition("=")[0]
        near = difflib.get_close_matches(flag, self._flags, n=1, cutoff=0.75)
        details = {"flag": flag} | ({"nearest": near[0]} if near else {})
        remedy = f"Did you mean {near[0]}? {REMEDIES['bad_flag']}" if near else REMEDIES["bad_flag"]
        return _failure("bad_flag", f"Unknown argument: {arguments}"[:300], text, remedy, details)


def _failure(category: str, title: str, line: str, remedy: str, details: dict[str, str]) -> FailureSeen:
    return FailureSeen(
        category=category, title=title[:300], lines=(line[:500],), remedy=remedy, details=details
    )
