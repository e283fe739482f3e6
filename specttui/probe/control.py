"""The control file's content: how a running probe is told to take another clock."""

from __future__ import annotations

import json

from specttui.events import Clock

#: Environment variable by which a server is given another control file than the marker's.
CONTROL_VARIABLE = "SPECTTUI_PROBE_CONTROL"


def control_content(clock: Clock) -> str:
    """What to write into the control file; the probe looks at most twice a second.

    Replace the file by a rename, so that the probe never reads half of it.

    Args:
        clock: The clock to take, or `Clock.OFF`.
    """
    return json.dumps({"clock": clock.value}) + "\n"
