"""Processes that file modes bind, also where the tests run as root and would not be."""

from __future__ import annotations

import os
import subprocess

from specttui.demo.host import DemoHost


def bound_by_file_modes() -> tuple[str, ...]:
    """A program with arguments that runs another one without root's right to write anything."""
    if os.getuid() != 0:
        return ()
    return ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override")


def start_server_under(host: DemoHost, program: tuple[str, ...]) -> None:
    """Start the demo host's server as it does itself, but run by another program.

    One that has fewer rights than the server may not look into the server's environment in /proc.
    """
    with host.log_path.open("ab") as log:
        subprocess.run(
            [*program, "/bin/sh", "-c", '"$@" &', "sh", *host.server_argv],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=host.server_env,
            cwd=host.home,
            start_new_session=True,
            check=True,
        )
