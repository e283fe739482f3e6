"""What the discovery program reports, validated: the wire format between `discover_host` and us."""

from __future__ import annotations

import base64
import zlib

from pydantic import BaseModel, ConfigDict, Field

from specttui.host.processes import Listener, ProcessId


class Facts(BaseModel):
    """Base of facts: immutable; fields that we do not know are left aside."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Reader(Facts):
    """A process that reads the server's output pipe, with the files it has open."""

    pid: int
    title: str
    files: tuple[str, ...] = ()


class Output(Facts):
    """Where the launcher's file descriptors 1 and 2 lead, as the links of /proc/PID/fd say.

    `descriptor` is the path by which standard error itself can be opened, even when its file was deleted.
    `root` is the way into the file system that the paths belong to, "" when it is ours.
    """

    stdout: str = ""
    stderr: str = ""
    descriptor: str = ""
    readers: tuple[Reader, ...] = ()
    root: str = ""


class Parent(Facts):
    """A process above the launcher; `argument` is its first argument where it is a supervisor of services."""

    pid: int
    comm: str
    argument: str = ""


class Surroundings(Facts):
    """What tells who manages a process.

    `same_mounts` is False for a process in another file system than ours, such as a container's;
    `in_container` says that we are in a container ourselves; `in_first_session` that the process belongs
    to the session of the container's (or host's) first process.
    """

    cgroup: str = ""
    parents: tuple[Parent, ...] = ()
    same_mounts: bool = True
    in_container: bool = False
    in_first_session: bool = False


class PackageFacts(Facts):
    """The sglang package of a server. `asked` is True when its own interpreter named the folder.

    `config` holds the values of the file given with `--config`, None without one or when it is unreadable.
    """

    interpreter: str = ""
    path: str = ""
    version: str = ""
    asked: bool = False
    config: dict[str, object] | None = None
    problem: str = ""


class WorkerFile(Facts):
    """A worker file as it is on the host; `content` is its bytes, compressed, as base64."""

    path: str
    readable: bool = True
    sha256: str = ""
    size_bytes: int = 0
    writable: bool = False
    content: str = ""

    @property
    def source(self) -> bytes:
        """The file's bytes."""
        return zlib.decompress(base64.b64decode(self.content)) if self.content else b""


class AnswersAt(Facts):
    """The address and port that the launcher listens on; port 0 when it does not listen yet."""

    address: str = ""
    port: int = 0


class EndpointAnswer(Facts):
    """The answer of an HTTP endpoint; status 0 for none."""

    status: int = 0
    body: str = ""


class ServerFacts(Facts):
    """All that was seen of one server. `known` is arguments, children or title: how it was recognised."""

    pid: int
    start_ticks: int
    known: str = "arguments"
    argv: tuple[str, ...] = ()
    argv_is_text: bool = True
    cwd: str = ""
    user: str = ""
    readable: bool = True
    environ: dict[str, str] = Field(default_factory=dict)
    undecodable_names: tuple[str, ...] = ()
    tree: tuple[ProcessId, ...] = ()
    session: int = 0
    output: Output = Output()
    listening: tuple[Listener, ...] = ()
    answers_at: AnswersAt = AnswersAt()
    server_info: EndpointAnswer = EndpointAnswer()
    package: PackageFacts = PackageFacts()
    workers: tuple[WorkerFile, ...] = ()
    surroundings: Surroundings = Surroundings()


class HostFacts(Facts):
    """All that was seen of a host. `gpus` is nvidia-smi's table, None where there is none.

    `user`, `uid` and `groups` are those of the account that looked.
    """

    proc: bool = True
    user: str = ""
    uid: int = 0
    groups: tuple[int, ...] = ()
    sees_others: bool = True
    servers: tuple[ServerFacts, ...] = ()
    orphans: tuple[int, ...] = ()
    failures: tuple[str, ...] = ()
    gpus: str | None = None
