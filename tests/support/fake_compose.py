"""A `docker` on PATH with compose services that it really runs, restarts always, and keeps the logs of.

The compose file is JSON, which is YAML too. A container's processes are known by a variable of theirs, in
place of their control group.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specttui.events import Manager, ManagerKind
from specttui.host.facts import Surroundings

CONTAINER_VARIABLE = "FAKE_CONTAINER"

_DOCKER = '''\
#!{python} -S
"""docker: `compose -f FILE -p PROJECT up -d|stop SERVICE`, `inspect`, `logs`; containers are JSON files."""
import datetime, hashlib, json, os, signal, subprocess, sys, threading, time

root = {root!r}
words = sys.argv[1:]
with open(root + "/calls", "a") as calls:
    calls.write(json.dumps(words) + "\\n")

def path(container, ending=".json"):
    return root + "/containers/" + container + ending

def read(container):
    with open(path(container)) as file:
        return json.load(file)

def write(container, facts):
    partial = path(container, ".new%d" % os.getpid())
    with open(partial, "w") as file:
        json.dump(facts, file)
    os.rename(partial, path(container))

def all_containers():
    return [name[:-5] for name in os.listdir(root + "/containers") if name.endswith(".json")]

def alive(pid):
    try:
        return open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

def running(container):
    return alive(read(container).get("supervisor", 0))

def start(container):
    write(container, dict(read(container), stopping=False))
    subprocess.Popen([sys.argv[0], "supervise", container], stdin=subprocess.DEVNULL,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while not read(container).get("main"):
        time.sleep(0.02)

def stop(container):
    write(container, dict(read(container), stopping=True))
    facts = read(container)
    if alive(facts.get("main", 0)):
        os.kill(facts["main"], signal.SIGTERM)
    while running(container):
        time.sleep(0.02)
    write(container, dict(read(container), main=0))

def supervise(container):
    """The daemon's part: run it, keep its output, and start it again unless it was stopped."""
    facts = read(container)
    env = dict(facts["environment"], **{{{variable!r}: container, "PATH": "/usr/bin:/bin"}})
    while True:
        reader, writer = os.pipe()
        process = subprocess.Popen(facts["command"], env=env, stdin=subprocess.DEVNULL, stdout=writer,
                                   stderr=writer, start_new_session=True)
        os.close(writer)
        write(container, dict(read(container), supervisor=os.getpid(), main=process.pid))
        keeper = threading.Thread(target=keep, args=(container, reader), daemon=True)
        keeper.start()
        process.wait()
        keeper.join(1)
        if read(container)["stopping"] or facts["restart"] != "always":
            return
        time.sleep(0.3)
        if read(container)["stopping"]:
            return

def keep(container, reader):
    with os.fdopen(reader, "rb") as lines, open(path(container, ".log"), "ab", buffering=0) as log:
        for line in lines:
            now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f000Z ")
            log.write(now.encode() + line)

def of_service(project, service):
    return [c for c in all_containers() if (read(c)["project"], read(c)["service"]) == (project, service)]

def compose(arguments):
    file, project = arguments[arguments.index("-f") + 1], arguments[arguments.index("-p") + 1]
    verb, service = arguments[4], arguments[-1]
    existing = of_service(project, service)
    if verb == "stop":
        for container in existing:
            stop(container)
        return
    with open(file) as text:
        wanted = json.load(text)["services"][service]
    for container in existing:
        if all(read(container)[name] == wanted[name] for name in ("command", "environment", "restart")):
            if not running(container):
                start(container)
            return
        stop(container)
        os.remove(path(container))
    container = hashlib.sha256(os.urandom(8)).hexdigest()
    write(container, dict(wanted, project=project, service=service, file=file, stopping=False, main=0))
    start(container)

def inspect(container):
    if container not in all_containers():
        sys.exit("Error: No such container: " + container)
    facts = read(container)
    labels = {{"com.docker.compose.project": facts["project"], "com.docker.compose.service": facts["service"],
              "com.docker.compose.project.working_dir": os.path.dirname(facts["file"]),
              "com.docker.compose.project.config_files": facts["file"]}}
    name = "/%s-%s-1" % (facts["project"], facts["service"])
    print(json.dumps([{{"Name": name, "Config": {{"Labels": labels}},
                       "HostConfig": {{"RestartPolicy": {{"Name": facts["restart"]}}}}}}]))

def logs(arguments):
    container = arguments[-1]
    if container not in all_containers():
        sys.exit("Error response from daemon: No such container: " + container)
    since = arguments[arguments.index("--since") + 1] if "--since" in arguments else ""
    tail = arguments[arguments.index("--tail") + 1] if "--tail" in arguments else "all"
    seen = 0
    while True:
        kept = open(path(container, ".log"), "rb").read() if os.path.exists(path(container, ".log")) else b""
        lines = kept.splitlines(keepends=True)
        if not seen and tail != "all":
            seen = max(0, len(lines) - int(tail))
        for line in lines[seen:]:
            if line.endswith(b"\\n") and line.split(b" ")[0].decode().rstrip("Z") >= since.rstrip("Z"):
                os.write(1, line)
        seen = len(lines)
        if not running(container):
            return
        time.sleep(0.05)

if words[0] == "compose":
    compose(words[1:])
elif words[0] == "inspect":
    inspect(words[-1])
elif words[0] == "logs":
    logs(words[1:])
elif words[0] == "supervise":
    supervise(words[1])
else:
    sys.exit("docker: what is " + " ".join(words) + "?")
'''


@dataclass(frozen=True)
class FakeCompose:
    """A scratch docker with one compose project.

    Attributes:
        root: Where containers, calls and the compose file lie.
        programs: The folder for PATH.
    """

    root: Path
    programs: Path

    @property
    def file(self) -> Path:
        """The compose file."""
        return self.root / "compose.yaml"

    @property
    def containers(self) -> dict[str, dict[str, Any]]:
        """What docker knows, by container id."""
        return {each.stem: json.loads(each.read_text()) for each in (self.root / "containers").glob("*.json")}

    def calls(self, *verbs: str) -> list[list[str]]:
        """What docker was asked to do, of these verbs."""
        lines = (self.root / "calls").read_text().splitlines()
        return [words for words in map(json.loads, lines) if words[0] in verbs]

    def compose_words(self, *words: str) -> tuple[str, ...]:
        """A command for the project."""
        return ("docker", "compose", "-f", str(self.file), "-p", "llm", *words)

    def compose(self, *words: str) -> None:
        """Call it as the administrator would."""
        docker, *rest = self.compose_words(*words)
        subprocess.run([str(self.programs / docker), *rest], check=True)

    def write(self, command: list[str], environment: dict[str, str]) -> None:
        """Write the compose file with one service, restarted always."""
        service = {"command": command, "environment": environment, "restart": "always"}
        self.file.write_text(json.dumps({"services": {"sglang": service}}))

    def log(self, container: str) -> list[str]:
        """The lines that a container has printed."""
        kept = self.root / "containers" / f"{container}.log"
        return [line.partition(" ")[2] for line in kept.read_text().splitlines()]

    def stop_all(self) -> None:
        """End whatever runs."""
        for facts in self.containers.values():
            for pid in (facts.get("supervisor", 0), facts.get("main", 0)):
                with suppress(ProcessLookupError):
                    if pid:
                        os.killpg(pid, signal.SIGKILL)


def install(folder: Path) -> FakeCompose:
    """Set it up.

    Args:
        folder: Where everything of it goes.
    """
    made = FakeCompose(folder / "root", folder / "programs")
    (made.root / "containers").mkdir(parents=True)
    made.programs.mkdir()
    program = made.programs / "docker"
    text = _DOCKER.format(python=sys.executable, root=str(made.root), variable=CONTAINER_VARIABLE)
    program.write_text(text)
    program.chmod(0o755)
    return made


def manager_by_mark(surroundings: Surroundings, environ: dict[str, str]) -> Manager:
    """In place of `manager_of`, which reads control groups that a test cannot make."""
    del surroundings
    container = environ.get(CONTAINER_VARIABLE, "")
    return Manager(kind=ManagerKind.DOCKER, name=container, detail="docker") if container else Manager()
