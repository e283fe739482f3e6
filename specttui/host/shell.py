"""From an argv to the one line that is sent to a login shell, whatever shell that is.

The line is `exec /bin/sh -c DECODER sh PAYLOAD`. All that a login shell could read in its own way (quotes,
backslash, `!`, newlines, bytes that are not ASCII) is written in the payload as a backslash and a zero with
three octal digits, which stays as it is inside single quotes in bash, dash, zsh, ksh, fish and csh alike;
`printf %b` of POSIX turns it back, and only `/bin/sh` ever parses the script. The script frames what the
command prints (frame.py), so that what shells print at start-up or exit never reaches a result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specttui.errors import RemoteCommandError
from specttui.host.frame import FrameToken

_DECODER = 'eval "$(printf %b "$1")"'
_BEGIN = f"exec /bin/sh -c '{_DECODER}' sh '"
#: A shell that waits for its script: the first line of its input, written as the payload is. `read` takes it
#: byte by byte, so what follows is the command's own input.
WARM_LINE = """exec /bin/sh -c 'IFS= read -r script && eval "$(printf %b "$script")"' sh"""
#: Printable ASCII stays as it is, all else is written in octal. By latin-1, whose points are bytes.
_WRITTEN = {byte: f"\\0{byte:03o}" for byte in range(256) if not 0x20 <= byte < 0x7F or byte in b"'\\!"}

# Linux takes at most 128 KiB in one argument, and the whole line is one argument of the login shell.
MAX_LINE_BYTES = 120_000

_RUN = """\
unset CDPATH
frame() {{ printf '%s%s:%s:%s\\n' {half} {other_half} "$1" "$2"; }}
frame begin $$
frame begin $$ >&2
{change_folder}
( exec {command} )
s=$?
frame end $s
frame end $s >&2"""

_CHANGE_FOLDER = "cd -- {folder} || {{ frame end cwd; frame end cwd >&2; exit 1; }}"

# The command of a stream ends when our side closes its standard input: also when the connection breaks. Then
# the group gets TERM, and KILL two seconds later; `wait` is repeated, since a trapped signal cuts it short.
_STREAM = """\
frame() {{ printf '%s%s:%s:%s\\n' {half} {other_half} "$1" "$2"; }}
exec 3<&0 </dev/null 2>&1
frame begin $$
leaving=
trap 'leaving=1' TERM
( exec {command} ) 3<&- &
c=$!
( trap : TERM
  while read -r _ <&3; do :; done
  kill -TERM -$$ 2>/dev/null || kill -TERM $c $$
  n=0
  while kill -0 $c 2>/dev/null && [ $n -lt 20 ]; do n=$((n + 1)); sleep 0.1 || n=20; done
  kill -KILL -$$ 2>/dev/null || kill -KILL $c
) >/dev/null 2>&1 &
w=$!
wait $c
s=$?
while [ -n "$leaving" ] && kill -0 $c 2>/dev/null; do wait $c; s=$?; done
[ -n "$leaving" ] || kill -KILL $w
frame end $s"""

_END = """\
kill -TERM -"$1" 2>/dev/null || exit 0
n=0
while kill -0 -"$1" 2>/dev/null && [ $n -lt 20 ]; do n=$((n + 1)); sleep 0.1 || n=20; done
kill -KILL -"$1" 2>/dev/null
exit 0"""


def quote(text: str) -> str:
    """One word for `/bin/sh`, whatever it holds.

    Raises:
        RemoteCommandError: It holds a NUL, which no argument can carry.
    """
    if "\0" in text:
        raise RemoteCommandError(
            "A remote command cannot be written",
            cause=f"An argument holds a NUL character: {text!r}",
            remedy="Remove the NUL character from the value.",
        )
    return "'" + text.replace("'", "'\\''") + "'"


def run_line(
    argv: Sequence[str], token: FrameToken, *, env: Mapping[str, str] | None = None, cwd: str | None = None
) -> str:
    """The login shell's line for a command that runs to its end, framed on both outputs.

    Raises:
        RemoteCommandError: It cannot be written as a command line, or is too long for one.
    """
    change_folder = _CHANGE_FOLDER.format(folder=quote(cwd)) if cwd else ":"
    return _login_line(_fill(_RUN, argv, env, token, change_folder=change_folder))


def stream_line(argv: Sequence[str], token: FrameToken, *, env: Mapping[str, str] | None = None) -> str:
    """The login shell's line for a command that runs until its standard input is closed, outputs merged.

    Raises:
        RemoteCommandError: It cannot be written as a command line, or is too long for one.
    """
    return _login_line(_fill(_STREAM, argv, env, token))


def warm_input(line: str) -> bytes:
    """What a waiting shell is given to do what a line of `run_line` or `stream_line` does."""
    return line.removeprefix(_BEGIN).removesuffix("'").encode("ascii") + b"\n"


def end_argv(process_group: int) -> tuple[str, ...]:
    """The command that ends all of a process group we started: TERM, and KILL after two seconds."""
    return ("sh", "-c", _END, "sh", str(process_group))


def _fill(
    template: str, argv: Sequence[str], env: Mapping[str, str] | None, token: FrameToken, **parts: str
) -> str:
    half, other_half = token.halves
    return template.format(half=half, other_half=other_half, command=_command(argv, env or {}), **parts)


def _command(argv: Sequence[str], env: Mapping[str, str]) -> str:
    """What follows `exec`: never a builtin or a function, and variables set by `env`, not by the shell."""
    if not argv or not argv[0]:
        raise RemoteCommandError(
            "A remote command cannot be written", cause="It has no program.", remedy="Name a program."
        )
    words = list(argv)
    if env:
        # `env` would read a program whose name holds `=` as one more variable.
        program = ["sh", "-c", 'exec "$@"', "sh"] if "=" in words[0] else []
        words = ["env", "--", *(_assignment(name, value) for name, value in env.items()), *program, *words]
    return " ".join(quote(word) for word in words)


def _assignment(name: str, value: str) -> str:
    if not name or "=" in name:
        raise RemoteCommandError(
            "A remote command cannot be written",
            cause=f"{name!r} cannot be the name of a variable.",
            remedy="Correct the variable's name.",
        )
    return f"{name}={value}"


def _login_line(script: str) -> str:
    line = f"{_BEGIN}{_encode(script)}'"
    if len(line) > MAX_LINE_BYTES:
        raise RemoteCommandError(
            "A remote command is too long",
            cause=f"It takes {len(line)} bytes; a host takes at most {MAX_LINE_BYTES} in one command.",
            remedy="Shorten the arguments, or send the data over standard input.",
        )
    return line


def _encode(script: str) -> str:
    """What `printf %b` turns back into the script; undecodable file names keep their bytes."""
    return script.encode("utf-8", "surrogateescape").decode("latin-1").translate(_WRITTEN)
