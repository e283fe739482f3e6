"""What stands before a message."""

from __future__ import annotations

import pytest

from specttui.log.prefix import Prefixed, split_prefix
from specttui.log.stamps import stamp_seconds


@pytest.mark.parametrize(
    ("text", "stamp", "rank", "body", "stamped"),
    [
        ("[04:40:55 TP0] x", "04:40:55", "TP0", "x", True),
        ("[2026-02-11 08:00:01] x", "2026-02-11 08:00:01", "", "x", True),
        ("[2026-02-11 08:00:01,482 DP1 TP2] x", "2026-02-11 08:00:01,482", "DP1 TP2", "x", True),
        ("[rank5]: x", "", "rank5", "x", False),
        ("[rank5]:[E1206 y] x", "", "rank5", "[E1206 y] x", False),
        ("  indented", "", "", "  indented", False),
        ("[not a stamp] x", "", "", "[not a stamp] x", False),
        ("2026-04-03 14:57:25.716 ERROR 496007 [ TP4 scheduler.py:3475] x", "2026-04-03 14:57:25.716", "TP4",
         "x", True),
        ("2026-04-03 14:57:25 INFO [server.py:7] x", "2026-04-03 14:57:25", "", "x", True),
        ("Apr 27 16:06:28 host docker[1]: sglang-1  | [2026-04-27 16:06:28 TP0] x", "2026-04-27 16:06:28",
         "TP0", "x", True),
        ("", "", "", "", False),
    ],
)  # fmt: skip
def test_split_prefix(text: str, stamp: str, rank: str, body: str, stamped: bool) -> None:
    assert split_prefix(text) == Prefixed(stamp, rank, body, stamped)


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("1970-01-02 00:00:01", 86401.0),
        ("1970-01-01 00:00:01.500", 1.5),
        ("1970-01-01 00:00:01,250", 1.25),
        ("04:40:55", 16855.0),
        ("", None),
        ("99:99:99", None),
    ],
)
def test_stamp_seconds(stamp: str, seconds: float | None) -> None:
    assert stamp_seconds(stamp) == seconds
