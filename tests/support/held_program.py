"""A program on the demo host that stops in the middle, so that a test can act at that very moment."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Literal

_SCRIPT = """\
#!/bin/sh
case "$*" in
  {pattern})
    if mkdir {reached} 2>/dev/null; then
      {first}
      echo $$ >{reached}/pid
      exec sleep 1000
    fi
    ;;
esac
exec {program} "$@"
"""


class HeldProgram:
    """Stands in front of a program and holds its first call whose arguments match, for ever.

    Args:
        programs: The folder that comes first in the host's PATH.
        name: The program.
        pattern: A shell pattern over all arguments.
        when: Hold the call before it did its work, or after.
    """

    def __init__(self, programs: Path, name: str, pattern: str, when: Literal["before", "after"]) -> None:
        real = shutil.which(name)
        assert real, f"{name} is not installed"
        self._reached = programs / f"{name}.reached"
        script = programs / name
        script.write_text(
            _SCRIPT.format(
                pattern=pattern,
                reached=shlex.quote(str(self._reached)),
                first=f'{real} "$@"' if when == "after" else ":",
                program=real,
            )
        )
        script.chmod(0o755)

    @property
    def holding(self) -> bool:
        """True once a call is held."""
        return (self._reached / "pid").exists()
