"""The text of the launch script that stays in the host's cache folder. Runs on the host."""

import shlex
import sys

#: Becomes the server: environment from a file, so that nothing of it ever shows in `ps`.
_BECOME = """\
import os, sys
files, cwd, argv = sys.argv[1:3], sys.argv[3], sys.argv[4:]
items = open(files[0], "rb").read().split(b"\\0")
os.chdir(cwd)
with open(files[1], "w") as file:
    file.write(str(os.getpid()))
os.execvpe(argv[0], argv, dict(item.split(b"=", 1) for item in items if b"=" in item))
"""


def render(argv: "list[str]", cwd: str, base: str, title: str) -> str:
    """A shell script that runs the server in the foreground and notes its exit status.

    Args:
        argv: The server's command, kept word for word.
        cwd: Its working folder.
        base: The path of the script without its ending; the environment, pid and exit status lie beside it.
        title: What the script says about itself.
    """
    words = [shlex.quote(word) for word in argv]
    lines = ["# " + " ".join(title.split())]
    lines += ["# To run it by hand: sh " + shlex.quote(base + ".sh")]
    files = " ".join(shlex.quote(base + ending) for ending in (".env", ".pid"))
    start = f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(_BECOME)} {files} {shlex.quote(cwd)}"
    return "\n".join(
        [
            "#!/bin/sh",
            *lines,
            " \\\n  ".join([start, *words]),
            "status=$?",
            f'echo "$status" >{shlex.quote(base + ".exit")}',
            'exit "$status"',
            "",
        ]
    )
