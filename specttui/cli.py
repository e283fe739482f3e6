"""The command line: parses arguments and chooses what to run; all work is done elsewhere.

Imports of the screen and of the network library are late: `--help`, `log`, `inspect`, `export` stay quick.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter, validators

from specttui import __version__
from specttui.errors import SpecttuiError, UsageError
from specttui.session.printing import say

if TYPE_CHECKING:
    from specttui.config import Loaded

app = App(
    name="specttui",
    version=__version__,
    help="Find out in one terminal session whether SGLang's speculative decoding pays, and why not.",
    help_epilogue="Start with `specttui demo`: a simulated 8-GPU host, no GPU and no network needed.",
)
app.register_install_completion_command()

Hosts = Annotated[
    str,
    Parameter(
        name="HOST",
        negative="",
        help="[user@]HOST[:port], an alias from ~/.ssh/config, or a name of the settings file; several for a "
        "server that spans hosts.",
    ),
]
ServerPort = Annotated[
    int | None, Parameter(help="The SGLang server's port, where several servers run on the host.")
]
NoSshConfig = Annotated[bool, Parameter(negative="", help="Connect without reading ~/.ssh/config.")]
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for scripts.")]


@app.default
def live(
    *hosts: Hosts,
    readonly: Annotated[
        bool, Parameter(negative="", help="Remove every action that changes the host.")
    ] = False,
    server_port: ServerPort = None,
    log: Annotated[
        str | None, Parameter(help="The server's log file on the host, if it is not found.")
    ] = None,
    no_ssh_config: NoSshConfig = False,
) -> None:
    """Connect to a GPU host and open the screen on its running SGLang server."""
    from specttui.ui.start import run_live

    run_live(
        _named(hosts),
        _settings(),
        readonly=readonly,
        server_port=server_port,
        log_path=log,
        use_ssh_config=not no_ssh_config,
    )


@app.command
def demo(
    *,
    profile: Annotated[
        Literal["mission", "h200"],
        Parameter(help="mission: a 1T-parameter MoE on 8 PCIe GPUs; h200: one H200."),
    ] = "mission",
    nodes: Annotated[
        int,
        Parameter(validator=validators.Number(gte=1, lte=4), help="Hosts that the simulated server spans."),
    ] = 1,
) -> None:
    """Open the screen on a simulated host: everything works, nothing is needed."""
    from specttui.ui.start import run_demo

    run_demo(profile, _settings(), nodes=nodes)


@app.command
def check(
    *hosts: Hosts,
    server_port: ServerPort = None,
    no_ssh_config: NoSshConfig = False,
    as_json: AsJson = False,
) -> None:
    """Say what runs on a host and what `patch` would hook. Read-only."""
    from specttui.session.headless import check_hosts

    say(
        check_hosts(
            _named(hosts),
            _settings().settings,
            server_port=server_port,
            use_ssh_config=not no_ssh_config,
            as_json=as_json,
        )
    )


@app.command
def restore(
    *hosts: Hosts,
    file: Annotated[str | None, Parameter(help="The worker file, if no server runs that names it.")] = None,
    server_port: ServerPort = None,
    no_ssh_config: NoSshConfig = False,
) -> None:
    """Bring the original worker file back, byte for byte, without the screen."""
    from specttui.session.headless import restore_hosts

    say(
        restore_hosts(
            _named(hosts),
            _settings().settings,
            path=file,
            server_port=server_port,
            use_ssh_config=not no_ssh_config,
        )
    )


@app.command
def doctor(
    *hosts: Hosts,
    server_port: ServerPort = None,
    no_ssh_config: NoSshConfig = False,
    as_json: AsJson = False,
) -> None:
    """Check step by step what works on a host and what does not, with remedies. Read-only."""
    from specttui.session.headless import examine_hosts

    text, healthy = examine_hosts(
        _named(hosts),
        _settings().settings,
        server_port=server_port,
        use_ssh_config=not no_ssh_config,
        as_json=as_json,
    )
    say(text)
    if not healthy:
        sys.exit(1)


@app.command
def config(
    *,
    path: Annotated[bool, Parameter(negative="", help="Print only where the settings file is.")] = False,
) -> None:
    """Print the settings in force, and where their file is."""
    from specttui.config import settings_path
    from specttui.config.show import show
    from specttui.ui.preferences import check as check_preferences

    if path:
        say(str(settings_path()))
        return
    loaded = _settings()
    check_preferences(loaded)
    say(show(loaded))


@app.command
def replay(
    session: Annotated[str, Parameter(help="A session folder, its id or a part of it, or `latest`.")],
    /,
    *,
    speed: Annotated[float, Parameter(help="Times the original speed; 0 is as fast as possible.")] = 1.0,
) -> None:
    """Play a recorded session on the screen."""
    from specttui.ui.start import run_replay

    run_replay(session, _settings(), speed=speed)


@app.command
def export(
    session: Annotated[
        str, Parameter(help="A session folder, its id or a part of it, or `latest`.")
    ] = "latest",
    /,
    *,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="The file; default: the terminal.")
    ] = None,
    format: Annotated[  # noqa: A002
        Literal["markdown", "json", "csv", "trace"], Parameter(help="What to write.")
    ] = "markdown",
) -> None:
    """Write a recorded session as markdown, JSON, CSV or a Perfetto trace."""
    from specttui.session.headless import export_session

    text = export_session(session, format)
    if output is None:
        say(text, end="")
    else:
        output.write_text(text, encoding="utf-8")
        say(f"Wrote {output}")


@app.command
def sessions() -> None:
    """List the recorded sessions, newest first."""
    from specttui.session.headless import list_sessions

    say(list_sessions())


@app.command
def log(
    file: Annotated[
        Path, Parameter(allow_leading_hyphen=True, help="A saved SGLang log; `-` reads standard input.")
    ],
    /,
    *,
    as_json: AsJson = False,
) -> None:
    """Say what a saved log holds: runs, throughput, acceptance, cycle time, start-up, failures."""
    from specttui.session.headless import summarise_log

    say(summarise_log(file, as_json=as_json))


@app.command
def inspect(
    file: Annotated[Path, Parameter(help="A worker file, for instance eagle_worker_v2.py.")],
    /,
    *,
    as_json: AsJson = False,
) -> None:
    """Say which phases the probe would hook in a local worker file. Read-only."""
    from specttui.session.headless import inspect_file

    say(inspect_file(file, as_json=as_json))


def _named(hosts: tuple[str, ...]) -> tuple[str, ...]:
    """The hosts of the command line.

    Raises:
        UsageError: None is named.
    """
    if not hosts:
        raise UsageError("No host is named", remedy="Give one (specttui HOST), or try: specttui demo")
    return hosts


def _settings() -> Loaded:
    """The user's settings.

    Raises:
        ConfigError: Their file cannot be used.
    """
    from specttui.config import load

    return load()


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; the entry point.

    Args:
        arguments: The arguments; those of the process when None.
    """
    try:
        app(arguments)
    except SpecttuiError as error:
        say(f"specttui: {error}", stream=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
