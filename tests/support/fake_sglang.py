"""A scratch `sglang` package whose launcher behaves like SGLang's: workers, log, endpoints, endings."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from specttui.demo.loopback import ReservedPort

READY = "The server is fired up and ready to roll!"

WORKER_V2 = """\
class EAGLEWorkerV2:
    def forward_batch_generation(self, batch):
        draft = self.draft_worker.draft(batch)
        result = self.verify(batch)
        self.draft_worker._draft_extend_for_decode(batch, result)
        return result
"""
WORKER = WORKER_V2.replace("EAGLEWorkerV2", "EAGLEWorker")

_LAUNCHER = '''\
"""Flags as SGLang's. What goes wrong is asked for by FAKE_* variables."""
import argparse, ctypes, json, os, signal, socket, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, HTTPServer

parser = argparse.ArgumentParser(prog="sglang serve")
for name in ("model-path", "api-key", "speculative-algorithm", "speculative-draft-model-path", "config"):
    parser.add_argument("--" + name)
for name in ("speculative-num-steps", "speculative-eagle-topk", "speculative-num-draft-tokens"):
    parser.add_argument("--" + name, type=int)
parser.add_argument("--port", type=int, default=30000)
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--tp-size", type=int, default=1)
args = parser.parse_args()
fake = {k[5:].lower(): v for k, v in os.environ.items() if k.startswith("FAKE_")}

def log(text):
    sys.stderr.write("[2026-11-29 12:00:00] " + text + "\\n")
    sys.stderr.flush()

def die_with_parent():
    if "stubborn" in fake:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "orphans" not in fake:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)

children = [
    subprocess.Popen([title, "600"], executable="/bin/sleep", preexec_fn=die_with_parent)
    for title in ["sglang::scheduler" + (f"_TP{n}" if args.tp_size > 1 else "") for n in range(args.tp_size)]
    + ["sglang::detokenizer"]
]

def end(*_):
    if "stubborn" not in fake and "orphans" not in fake:
        for child in children:
            child.kill()
    os._exit(0)

signal.signal(signal.SIGTERM, signal.SIG_IGN if "deaf" in fake else end)
log("server_args=ServerArgs(model_path=%r)" % args.model_path)
if "import" in fake:
    import importlib, traceback
    try:
        importlib.import_module("sglang.srt.speculative." + fake["import"])
    except Exception:
        log("Scheduler hit an exception: " + traceback.format_exc())
        for child in children:
            child.kill()
        os._exit(1)
time.sleep(float(fake.get("load_s", 0)))
if "die" in fake:
    log("torch.OutOfMemoryError: CUDA out of memory.")
    for child in children:
        child.kill()
    os._exit(int(fake["die"]))

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        known = {
            "/v1/models": {"data": [{"id": "fake"}]},
            "/server_info": dict(vars(args), version="0.5.12", disable_overlap_schedule="sync" in fake,
                                 speculative_num_draft_tokens=(args.speculative_num_steps or 0) + 1),
        }
        allowed = not args.api_key or self.headers.get("Authorization") == "Bearer " + args.api_key
        status = 404 if self.path not in known else 200 if allowed else 401
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(known.get(self.path, {}) if status == 200 else {}).encode())
    def log_message(self, *_):
        pass

class Server(HTTPServer):
    allow_reuse_address = True

try:
    server = Server((args.host, args.port), Handler)
except OSError as error:
    address = (args.host, args.port)
    log(f"ERROR:    [Errno 98] error while attempting to bind on address {address}: address already in use")
    log("The server is fired up and ready to roll!")
    time.sleep(float(fake.get("linger_s", 0)))
    for child in children:
        child.kill()
    os._exit(3)
log("The server is fired up and ready to roll!")
server.serve_forever()
'''


def write_package(folder: Path, version: str = "0.5.12") -> Path:
    """Write the package below a folder that is to be on PYTHONPATH; returns the package's folder."""
    package = folder / "sglang"
    speculative = package / "srt" / "speculative"
    speculative.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "version.py").write_text(f'__version__ = "{version}"\n')
    (package / "launch_server.py").write_text(_LAUNCHER)
    (speculative / "eagle_worker.py").write_text(WORKER)
    (speculative / "eagle_worker_v2.py").write_text(WORKER_V2)
    return package


def process_parent(pid: int) -> int:
    """The parent of a process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def alive(pid: int) -> bool:
    """True while a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def below(pid: int) -> list[int]:
    """The children of a process."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if process_parent(int(entry.name)) == pid:
                found.append(int(entry.name))
    return sorted(found)


@dataclass
class FakeServer:
    """A running fake server; `argv` and `env` are how it was started."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path
    argv: list[str]
    children: list[int] = field(default_factory=list)

    @property
    def pid(self) -> int:
        """The launcher."""
        return self.process.pid

    def wait_for(self, text: str, timeout_s: float = 60.0) -> None:
        """Wait until a text stands in the log."""
        deadline = time.monotonic() + timeout_s
        while text not in self.log.read_text(errors="replace"):
            dead = self.process.poll() is not None or time.monotonic() > deadline
            assert not dead, self.log.read_text(errors="replace")
            time.sleep(0.02)
        self.children = below(self.pid) or self.children

    def kill(self) -> None:
        """End all of it, whatever state it is in."""
        for pid in (*self.children, *below(self.pid), self.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


#: Each is kept until so many others were asked for: all of them would use up the file descriptors.
_reserved: deque[ReservedPort] = deque(maxlen=64)


def free_port() -> int:
    """A port that nobody listens on, and that nobody gets who asks for any free one."""
    port = ReservedPort()
    if len(_reserved) == _reserved.maxlen:
        _reserved[0].close()
    _reserved.append(port)
    return port.number


def launch_argv(port: int, *flags: str, python: str = sys.executable) -> list[str]:
    """The command line of a fake server."""
    return [
        python,
        "-m",
        "sglang.launch_server",
        "--model-path",
        "/m/fake",
        "--port",
        str(port),
        *flags,
    ]


@dataclass(frozen=True)
class Owner:
    """The account that runs a fake server: its Python, its whole environment, its numbers."""

    python: str
    env: Mapping[str, str]
    uid: int | None = None
    gid: int | None = None


def start_fake(
    folder: Path,
    *flags: str,
    fake: Mapping[str, str] | None = None,
    port: int = 0,
    wait: str = READY,
    owner: Owner | None = None,
) -> FakeServer:
    """Start a fake server with its package below `folder`, log to a file there, and wait for a log text.

    Args:
        folder: A scratch folder.
        flags: Further flags.
        fake: FAKE_* variables: LOAD_S, DIE (exit code), STUBBORN, ORPHANS, DEAF, LINGER_S, SYNC, IMPORT (a
            worker module that the scheduler imports).
        port: The port; 0 chooses a free one.
        wait: The text of the log to wait for.
        owner: Who runs it, where that is not us.
    """
    owner = owner or Owner(sys.executable, os.environ)
    packages = folder / "packages"
    if not packages.exists():
        write_package(packages)
    port = port or free_port()
    log = folder / f"server-{port}.log"
    argv = launch_argv(port, *flags, python=owner.python)
    with log.open("ab") as output:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env={**owner.env, "PYTHONPATH": str(packages), **(fake or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            user=owner.uid,
            group=owner.gid,
            extra_groups=None if owner.uid is None else [],
        )
    server = FakeServer(process, port, log, argv)
    server.wait_for(wait)
    return server
