"""What the steps on a guarded file give: its contents, a backup, a replacement."""

from __future__ import annotations

from dataclasses import dataclass

from specttui.host.file_steps import Answer


@dataclass(frozen=True, slots=True)
class FileContents:
    """A file as it was read, in one piece.

    Attributes:
        path: As asked for.
        resolved_path: After following symbolic links: this one is replaced, so the links stay.
        data: Its bytes.
        sha256: Their hash, in hexadecimal.
        uid: Owner's number.
        gid: Group's number.
        owner: Owner's name, or number where the host has no name.
        mode: Permission bits.
        mtime_s: Last change, seconds since 1970.
        links: Hard links; more than one means that another place (a package cache) shares the bytes.
        writable: This account may write the file.
        folder_writable: This account may create files beside it, which replacing needs.
    """

    path: str
    resolved_path: str
    data: bytes
    sha256: str
    uid: int
    gid: int
    owner: str
    mode: int
    mtime_s: int
    links: int
    writable: bool
    folder_writable: bool

    @classmethod
    def parse(cls, path: str, answer: Answer) -> FileContents:
        """Read the answer of the step `read`."""
        return cls(
            path=path,
            resolved_path=answer["resolved"],
            data=answer.data,
            sha256=answer["sha256"],
            uid=int(answer["uid"]),
            gid=int(answer["gid"]),
            owner=answer["owner"],
            mode=int(answer["mode"], 8),
            mtime_s=int(answer["mtime_s"]),
            links=int(answer["links"]),
            writable=answer["writable"] == "yes",
            folder_writable=answer["folder_writable"] == "yes",
        )


@dataclass(frozen=True, slots=True)
class Backup:
    """The original, safe in two places: beside the file on the host, and in the local session folder."""

    remote_path: str
    local_path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Replaced:
    """A file's new contents are in place and were read back.

    `bytecode_left` counts stale `.pyc` files that could not be removed: Python may run them instead.
    """

    sha256: str
    bytecode_left: int
