"""Host keys on record: what known_hosts files say about a host, by file and line, and adding to them.

asyncssh says the same for an unknown and for a changed key, so we look ourselves. Format: sshd(8),
SSH_KNOWN_HOSTS FILE FORMAT: hashed and plain names, patterns, negation, @revoked and @cert-authority.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path

from specttui.private_files import private_folder

DEFAULT_PORT = 22


class Marker(Enum):
    """What a line of known_hosts says about its key."""

    HOST = ""
    AUTHORITY = "@cert-authority"
    REVOKED = "@revoked"


@dataclass(frozen=True, slots=True)
class KnownHostLine:
    """One line that holds for the host asked about."""

    path: Path
    line_number: int
    marker: Marker
    key_type: str
    blob: bytes

    @property
    def place(self) -> str:
        """File and line, as shown to the user."""
        return f"{self.path}, line {self.line_number}"


class Verdict(Enum):
    """What the records say about a key that a host presents."""

    TRUSTED = "trusted"
    UNKNOWN = "unknown"
    CHANGED = "changed"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class HostRecord:
    """All that is on record for one host name and port.

    `lines` name the host as asked; `fallback_lines` name it without its port: they vouch for a key, as in
    OpenSSH, but never make one "changed".
    """

    lines: tuple[KnownHostLine, ...]
    fallback_lines: tuple[KnownHostLine, ...] = ()

    def blobs(self, marker: Marker) -> list[tuple[str, bytes]]:
        """Type and key data of every line with this marker; revoked keys count as nothing else."""
        every = self.lines + self.fallback_lines
        revoked = {line.blob for line in every if line.marker is Marker.REVOKED}
        return [
            (line.key_type, line.blob)
            for line in every
            if line.marker is marker and (marker is Marker.REVOKED or line.blob not in revoked)
        ]

    def judge(self, blob: bytes) -> tuple[Verdict, KnownHostLine | None]:
        """Judge a presented key; the line is the one that decides."""
        for marker, verdict in ((Marker.REVOKED, Verdict.REVOKED), (Marker.HOST, Verdict.TRUSTED)):
            for line in self.lines + self.fallback_lines:
                if line.marker is marker and line.blob == blob:
                    return verdict, line
        for line in self.lines:
            if line.marker is Marker.HOST:
                return Verdict.CHANGED, line
        return Verdict.UNKNOWN, None


def look_up(paths: Sequence[Path], host: str, port: int) -> HostRecord:
    """Read what the files say about a host; files that are not there say nothing.

    A port other than 22 is looked up as `[host]:port`, and without it if that names no key.
    """
    lines = _all_lines(paths, host_name(host, port))
    if port == DEFAULT_PORT or any(line.marker is Marker.HOST for line in lines):
        return HostRecord(lines)
    return HostRecord(lines, _all_lines(paths, host.lower()))


def host_name(host: str, port: int) -> str:
    """The name a host has in known_hosts."""
    host = host.lower()
    return host if port == DEFAULT_PORT else f"[{host}]:{port}"


def fingerprint(blob: bytes) -> str:
    """The SHA256 fingerprint, as ssh-keygen -l shows it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def add(path: Path, host: str, port: int, key_type: str, blob: bytes) -> None:
    """Append a key to a known_hosts file, creating it (0600, folder 0700); hashed if the file's names are.

    Raises:
        OSError: The file cannot be written.
    """
    private_folder(path.parent)
    existing = path.read_bytes() if path.exists() else b""
    name = host_name(host, port)
    if existing.startswith(b"|1|") or b"\n|1|" in existing:
        name = _hashed(name, secrets.token_bytes(20))
    start = "\n" if existing and not existing.endswith(b"\n") else ""
    line = f"{start}{name} {key_type} {base64.b64encode(blob).decode()}\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(line.encode())


def _all_lines(paths: Sequence[Path], name: str) -> tuple[KnownHostLine, ...]:
    return tuple(line for path in paths for line in _lines_for(path, name))


def _lines_for(path: Path, name: str) -> list[KnownHostLine]:
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return []
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        parsed = _parse(line)
        if parsed and _matches(parsed[1], name):
            marker, _, key_type, blob = parsed
            found.append(KnownHostLine(path, number, marker, key_type, blob))
    return found


def _parse(line: str) -> tuple[Marker, str, str, bytes] | None:
    """Marker, names, key type, key data; None for comments and lines OpenSSH would skip too."""
    words = line.split()
    if not words or words[0].startswith("#"):
        return None
    marker = Marker.HOST
    if words[0].startswith("@"):
        if words[0] not in {Marker.AUTHORITY.value, Marker.REVOKED.value}:
            return None
        marker = Marker(words.pop(0))
    if len(words) < 3:
        return None
    try:
        return marker, words[0], words[1], base64.b64decode(words[2], validate=True)
    except (binascii.Error, ValueError):
        return None


def _matches(names: str, name: str) -> bool:
    if names.startswith("|"):
        parts = names.split("|")
        try:
            salt = base64.b64decode(parts[2], validate=True)
        except (IndexError, binascii.Error, ValueError):
            return False
        return hmac.compare_digest(_hashed(name, salt), names)
    return _matches_pattern(names.split(","), name)


def _matches_pattern(patterns: Sequence[str], name: str) -> bool:
    """`*` and `?` are wild; a pattern after `!` that matches rules the line out."""
    matched = False
    for pattern in patterns:
        bare = pattern.removeprefix("!").lower()
        # Brackets are part of `[host]:port` here, never a set of characters.
        if fnmatchcase(name, bare.replace("[", "[[]")):
            if pattern.startswith("!"):
                return False
            matched = True
    return matched


def _hashed(name: str, salt: bytes) -> str:
    """`|1|salt|HMAC-SHA1(salt, name)`: hashed names are no secret, SHA1 is what the format prescribes."""
    digest = hmac.new(salt, name.encode(), "sha1").digest()
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"
