"""Programs that specttui sends to the host and runs there, each a room of this package.

They run on the host's Python, 3.6 or newer, with nothing but the standard library, and leave no file
behind. `specttui.host.remote_python` bundles the rooms a program needs into one text, in which this
package exists as it does here, so they import each other by their full names in both places.
"""

from __future__ import annotations

from importlib import resources


def source(name: str) -> str:
    """The source text of one room of this package.

    Args:
        name: The module's name without `.py`.
    """
    return resources.files(__name__).joinpath(name + ".py").read_text("utf-8")
