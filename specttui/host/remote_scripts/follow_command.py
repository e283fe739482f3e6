"""Follow a container's or a unit's log through the tool that has it. Runs on the host.

Both tools can end, or fall silent, without the server having ended: every line's own mark (docker's
time stamp, journald's cursor) lets a new follow process go on without loss or repetition.
"""

import json
import re
import select
import signal
import subprocess
import time
from typing import Any

from specttui.host.remote_scripts import frames

_CHUNK_BYTES = 65536
_SILENCE_S = 60.0
_DOUBT_S = 5.0
_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d) ")
_SUPPRESSED = re.compile(r"Suppressed \d+ messages from ")
#: journalctl's word that this account sees its own entries only; it goes on, and may never print a line.
_NOT_SEEING = b"not seeing messages from other users"
_HIDDEN_ENTRIES = (
    "journalctl says: {} No line of this unit came: add this account to the group systemd-journal, or "
    "restart the server through specttui with its output in a file."
)


class Docker:
    """`docker logs` or `podman logs`; a place is "STAMP COUNT": so many lines had that stamp.

    Args:
        parameters: `name`, `tool`, `lines` (of backlog, 0 for all), `cursor`.
    """

    def __init__(self, parameters: "dict[str, Any]") -> None:
        self.name = parameters["name"]
        self.tool = parameters["tool"]
        self.lines = parameters["lines"]
        self.cursor = parameters["cursor"]
        self.skip = 0
        self.said = b""
        self.doubt = ""

    def argv(self) -> "list[str]":
        """The command that goes on after the last line we had."""
        stamp, _, count = self.cursor.partition(" ")
        self.skip = int(count or 0)
        since = ["--since", stamp] if stamp else ["--tail", str(self.lines or "all")]
        return [self.tool, "logs", "--follow", "--timestamps", *since, self.name]

    def text(self, line: bytes, out: "frames.Writer") -> "bytes | None":
        """A line without its stamp; None for one that we had before, or that the tool said by itself."""
        del out
        match = _STAMP.match(line)
        if not match:
            self.said = line
            return None
        stamp = match.group()[:-1].decode("ascii")
        last, _, count = self.cursor.partition(" ")
        if stamp == last and self.skip:
            self.skip -= 1
            return None
        self.skip = 0
        self.cursor = f"{stamp} {int(count or 0) + 1 if stamp == last else 1}"
        return line[match.end() :]


class Journal:
    """`journalctl`; a place is the journal's own cursor.

    Args:
        parameters: `name`, `user` (a user's unit), `lines`, `cursor`.
    """

    def __init__(self, parameters: "dict[str, Any]") -> None:
        self.unit = ["--user-unit" if parameters["tool"] == "user" else "--unit", parameters["name"]]
        self.lines = parameters["lines"]
        self.cursor = parameters["cursor"]
        self.said = b""
        self.doubt = ""

    def argv(self) -> "list[str]":
        """The command that goes on after the last entry we had.

        `--all`, or entries of more than 4096 bytes come without their text: SGLang's line of arguments has
        more. `--no-tail`, or following begins with the last ten entries; journalctl(1).
        """
        shown = ["--follow", "--all", "--output=json", "--output-fields=MESSAGE"]
        if self.cursor:
            return ["journalctl", *shown, "--no-tail", f"--after-cursor={self.cursor}", *self.unit]
        return ["journalctl", *shown, f"--lines={self.lines}" if self.lines else "--no-tail", *self.unit]

    def text(self, line: bytes, out: "frames.Writer") -> "bytes | None":
        """An entry's message; journald's note on dropped messages becomes a notice."""
        try:
            entry = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            self.said = line
            if _NOT_SEEING in line:
                self.doubt = _HIDDEN_ENTRIES.format(line.decode("utf-8", "replace").strip())
            return None
        self.cursor = entry.get("__CURSOR", self.cursor)
        message = entry.get("MESSAGE") or ""
        if isinstance(message, list) and isinstance(message[0], int):
            return bytes(message)  # text that is not printable
        if isinstance(message, list):  # a field that one entry has several times
            message = "\n".join(str(each) for each in message)
        if _SUPPRESSED.match(message):
            out.notice("suppressed", message)
            return None
        data: bytes = message.encode("utf-8", "surrogatepass")
        return data


class Relay:
    """Runs a tool and sends its lines on.

    Args:
        source: The tool.
        out: Where frames go.
    """

    def __init__(self, source: "Docker | Journal", out: "frames.Writer") -> None:
        self.source = source
        self.out = out
        self.sent = 0
        self.rest = b""

    def run(self) -> int:
        """Run the tool until it ends or falls silent.

        Returns:
            Its exit status, 0 when we ended it for its silence.
        """
        process = subprocess.Popen(
            self.source.argv(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        )
        try:
            return self._relay(process)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()

    def _relay(self, process: "subprocess.Popen[bytes]") -> int:
        assert process.stdout is not None
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN)
        last_s = time.monotonic()
        self.rest = b""
        while True:
            self.out.check_reader()
            if poll.poll(200):
                piece = process.stdout.read(_CHUNK_BYTES)
                if not piece:
                    self.source.said = self.rest or self.source.said
                    return process.wait()
                last_s = time.monotonic()
                self._send(piece)
            elif self.source.cursor and time.monotonic() - last_s > _SILENCE_S:
                return 0
            elif self.source.doubt and time.monotonic() - last_s > _DOUBT_S:
                self._tell_doubt()

    def _tell_doubt(self) -> None:
        """Say what may keep every line from us, where none has come."""
        if not self.source.cursor:
            self.out.notice("cannot_follow", self.source.doubt)
        self.source.doubt = ""

    def _send(self, piece: bytes) -> None:
        lines = (self.rest + piece).split(b"\n")
        self.rest = lines.pop()
        texts = [self.source.text(line, self.out) for line in lines]
        data = b"".join(text + b"\n" for text in texts if text is not None)
        if data:
            begin, self.sent = self.sent, self.sent + len(data)
            self.out.send("data", data, offset=begin, end=self.sent, cursor=self.source.cursor)


def main(parameters: "dict[str, Any]") -> None:
    """Follow until the reader goes away; ends when the tool fails, having said why.

    Args:
        parameters: `mark`, `tool` (docker, podman, system, user), `name`, `lines`, `cursor`.
    """
    out = frames.Writer(parameters["mark"])
    containers = parameters["tool"] in ("docker", "podman")
    source: Docker | Journal = Docker(parameters) if containers else Journal(parameters)
    relay = Relay(source, out)
    status = 0
    while status == 0:
        try:
            status = relay.run()
        except OSError as error:
            status, source.said = 127, str(error).encode("utf-8", "replace")
        time.sleep(1.0)
        out.check_reader()
    out.send("failed", detail=source.said.decode("utf-8", "replace")[-500:], status=status)
