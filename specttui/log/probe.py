"""Our probe's lines to events: straight from the bytes where the line is as we wrote it."""

from __future__ import annotations

from pydantic import ValidationError

from specttui.events import PROBE_EVENT, PROBE_PREFIX, ProbeEvent

#: How a probe line begins, as bytes.
PROBE_BYTES = PROBE_PREFIX.encode()
_PREFIX_LENGTH = len(PROBE_BYTES)


def probe_event(line: bytes) -> ProbeEvent | None:
    """Read a line that begins with the probe's prefix.

    Args:
        line: One whole line, prefix included.

    Returns:
        The event; None for a torn, glued or foreign line, which is then only text.
    """
    try:
        return PROBE_EVENT.validate_json(line[_PREFIX_LENGTH:])
    except ValidationError:
        return None


def embedded_probe_event(text: str) -> ProbeEvent | None:
    """Read a line that has something before the probe's prefix (docker, journald, a rank) or after its JSON.

    Args:
        text: One cleaned line with the prefix anywhere in it.

    Returns:
        The event, or None.
    """
    start = text.find(PROBE_PREFIX)
    if start < 0:
        return None
    event = probe_event(text[start:].encode("utf-8", "replace"))
    end = text.rfind("}")
    if event is None and end > start:
        event = probe_event(text[start : end + 1].encode("utf-8", "replace"))
    return event
