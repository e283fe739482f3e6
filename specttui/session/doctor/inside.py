"""Where commands end up, on the host or behind a transport: Linux, tools, Python, the cache folder."""

from __future__ import annotations

from specttui.host.remote import Remote
from specttui.host.remote_python import FIND_PYTHON
from specttui.session.doctor.findings import Findings
from specttui.session.options import SessionOptions

_TOOLS = ("stat", "dd", "mv", "cp", "readlink", "date", "id", "sha256sum")
_MISSING = 'for tool; do command -v "$tool" >/dev/null 2>&1 || printf "%s " "$tool"; done'
_SYSTEM = "uname -s; uname -r; [ -r /proc/self/stat ] && echo proc"
_VERSION = "import sys; print(sys.version.split()[0], sys.executable)"
#: The nearest folder that exists on the way to our cache folder, and whether it may be written.
_CACHE = """\
wanted=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/specttui
there=$wanted
while [ ! -e "$there" ] && [ -n "$there" ]; do there=${there%/*}; done
[ -d "${there:-/}" ] && [ -w "${there:-/}" ] && may=yes || may=no
printf '%s\\n%s' "$may" "$wanted"
"""


async def inside(remote: Remote, options: SessionOptions, found: Findings) -> bool:
    """Look at where commands run; False when nothing can be done there."""
    if options.via and not await _transport(remote, found):
        return False
    if not await _system(remote, found):
        return False
    with found.trying("tools"):
        await _tools(remote, found)
    with found.trying("cache folder"):
        await _cache(remote, found)
    with found.trying("python"):
        return await _python(remote, found)
    return False


async def _transport(remote: Remote, found: Findings) -> bool:
    with found.trying("transport"):
        await remote.run(["true"], check=True)
        found.ok("transport", remote.name)
        return True
    return False


async def _system(remote: Remote, found: Findings) -> bool:
    with found.trying("system"):
        lines = (await remote.run(["sh", "-c", _SYSTEM])).text.splitlines()
        if lines[:1] == ["Linux"] and "proc" in lines[2:]:
            found.ok("system", f"Linux {lines[1]}, with /proc")
            return True
        found.fail(
            "system",
            f"It is {' '.join(lines[:2]) or 'unknown'}, without a readable /proc.",
            "Connect to the Linux host that has the GPUs.",
        )
    return False


async def _tools(remote: Remote, found: Findings) -> None:
    missing = (await remote.run(["sh", "-c", _MISSING, "sh", *_TOOLS])).text.split()
    if missing:
        found.warn(
            "tools",
            f"These are missing: {', '.join(missing)}.",
            "Install coreutils or busybox there; without them files are not patched.",
        )
    else:
        found.ok("tools", "all that backing up and patching need")


async def _cache(remote: Remote, found: Findings) -> None:
    may, _, folder = (await remote.run(["sh", "-c", _CACHE])).text.partition("\n")
    if may == "yes":
        found.ok("cache folder", f"{folder} can be written")
    else:
        found.fail(
            "cache folder",
            f"{folder} cannot be written.",
            "Give the account a home folder that it may write, or set XDG_CACHE_HOME for it.",
        )


async def _python(remote: Remote, found: Findings) -> bool:
    result = await remote.run(["/bin/sh", "-c", FIND_PYTHON, "specttui", "-c", _VERSION])
    if result.ok:
        version, _, path = result.text.partition(" ")
        found.ok("python", f"{version}, {path}")
        return True
    found.fail(
        "python",
        result.stderr.decode("utf-8", "replace").strip() or f"exit status {result.exit_status}",
        "Install Python 3.6 or newer there, or connect to where the server runs (its container).",
    )
    return False
