"""SGLang's version numbers, as far as rules depend on them."""

from __future__ import annotations

import re

_RELEASE = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


def release(version: str) -> tuple[int, int, int] | None:
    """The release a version belongs to: "0.5.4.post2" is (0, 5, 4); None when there is no number in it."""
    found = _RELEASE.match(version.strip())
    if not found:
        return None
    return int(found[1]), int(found[2]), int(found[3] or 0)


def at_most(version: str, limit: tuple[int, int, int], *, unknown: bool = False) -> bool:
    """True when a version is the given release (its posts included) or an older one.

    Args:
        version: As SGLang prints it; "" when it is not known.
        limit: The newest release that still counts.
        unknown: The answer for a version that cannot be read.
    """
    found = release(version)
    return unknown if found is None else found <= limit


def at_least(version: str, limit: tuple[int, int, int], *, unknown: bool = False) -> bool:
    """True when a version is the given release or a newer one; `unknown` when it cannot be read."""
    found = release(version)
    return unknown if found is None else found >= limit
