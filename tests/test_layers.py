"""Headless paths stay headless: they load neither the screen nor the network library."""

from __future__ import annotations

import subprocess
import sys

import pytest


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running `code`."""
    program = f"{code}\nimport sys\nprint('\\n'.join(sorted({{name.split('.')[0] for name in sys.modules}})))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import specttui.state.session_state, specttui.state.build, specttui.report",
        "import specttui.log.parser, specttui.probe.patch, specttui.launch, specttui.analysis.verdict",
        "import specttui.cli",
    ],
)
def test_pure_modules_load_neither_screen_nor_network(code: str) -> None:
    assert not loaded_by(code) & {"textual", "asyncssh", "plotext"}


def test_help_of_check_loads_neither_screen_nor_network() -> None:
    code = (
        "from specttui.cli import main\n"
        "import contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):\n"
        "    main(['check', '--help'])\n"
        "assert 'read-only' in out.getvalue().lower(), out.getvalue()\n"
    )
    assert not loaded_by(code) & {"textual", "asyncssh", "plotext"}
