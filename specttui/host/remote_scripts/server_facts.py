"""Everything that can be seen of one server process. Runs on the host."""
# Plain os calls: the program starts anew for every look, and /proc holds thousands of links.
# ruff: noqa: PTH110, PTH116, PTH118, PTH119, PTH208

import os

from specttui.host.remote_scripts import endpoints, launchers, package, procfs, sockets

_TIMEOUT_S = 4.0
_SUPERVISORS = ("runsv", "s6-supervise", "supervise")


def _environment(pid: int) -> "tuple[dict[str, str] | None, list[str]]":
    """The variables, and the names of those that are not text and so cannot travel as JSON."""
    items = procfs.environment(pid)
    if items is None:
        return None, []
    texts: dict[str, str] = {}
    others: list[str] = []
    for item in items:
        name, _, value = item.partition(b"=")
        try:
            texts[name.decode("utf-8")] = value.decode("utf-8")
        except UnicodeDecodeError:
            others.append(procfs.text(name))
    return texts, others


def _pipe_readers(
    table: "dict[int, procfs.Process]", target: str, own: "list[int]"
) -> "list[dict[str, object]]":
    """The processes at the other end of an output pipe, such as `tee`, with the files they write."""
    readers: list[dict[str, object]] = []
    for pid in table:
        if pid in own or procfs.link(f"/proc/{pid}/fd/0") != target:
            continue
        folder = f"/proc/{pid}/fd"
        links = [procfs.link(folder + "/" + name) for name in sorted(os.listdir(folder)) if name != "0"]
        files = [path for path in links if path.startswith("/") and not path.startswith("/dev/")]
        readers.append({"pid": pid, "title": os.path.basename(table[pid].title), "files": files})
    return readers


def _output(
    table: "dict[int, procfs.Process]", pid: int, tree: "list[int]", root: str
) -> "dict[str, object]":
    stdout = procfs.link(f"/proc/{pid}/fd/1")
    stderr = procfs.link(f"/proc/{pid}/fd/2")
    readers = _pipe_readers(table, stderr, tree) if stderr.startswith("pipe:") else []
    shared = stderr.startswith("/") and procfs.way_to(root, stderr) == stderr
    return {
        "stdout": stdout,
        "stderr": stderr,
        "descriptor": f"/proc/{pid}/fd/2",
        "readers": readers,
        "root": "" if shared else root,
    }


def _service(process: procfs.Process) -> str:
    """The folder of the service that a runit or s6 supervisor looks after, "" for other processes."""
    if process.comm not in _SUPERVISORS or len(process.argv) < 2:
        return ""
    folder = procfs.text(process.argv[1])
    cwd = procfs.link(f"/proc/{process.pid}/cwd")
    return os.path.basename(os.path.normpath(os.path.join(cwd, folder)))


def _surroundings(table: "dict[int, procfs.Process]", process: procfs.Process) -> "dict[str, object]":
    """What tells who manages the process: groups, parents, namespaces."""
    path = f"/proc/{process.pid}/"
    first = table.get(1)
    above = procfs.ancestors(table, process.pid)
    own_mounts = procfs.link("/proc/self/ns/mnt")
    return {
        "cgroup": procfs.text(procfs.read_bytes(path + "cgroup") or b""),
        "parents": [{"pid": p.pid, "comm": p.comm, "argument": _service(p)} for p in above],
        "same_mounts": procfs.link(path + "ns/mnt") in ("", own_mounts),
        "in_container": os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"),
        "in_first_session": bool(first and first.session == process.session),
    }


def _address(argv: "list[str]", pid: int, listening: "list[sockets.Listener]") -> "tuple[str, int]":
    """Where the launcher answers: the port of its flag, or else the only one it listens on.

    Another user's sockets have no owner that we can see, so there the port alone has to do.
    """
    port = launchers.port(argv)
    own = [listener for listener in listening if listener.pid == pid]
    for listener in own or listening:
        if listener.port == port and listener.pid in (pid, 0):
            return listener.address, port
    return (own[0].address, own[0].port) if len(own) == 1 else ("", 0)


def _server_info(argv: "list[str]", address: str, port: int) -> "dict[str, object]":
    """Ask the running server for its settings; the name of that endpoint changed in 0.5.6."""
    if not port:
        return {"status": 0, "body": ""}
    url = endpoints.base_url(address, port, launchers.flag(argv, "--ssl-certfile") is not None)
    paths = ("/server_info", "/get_server_info")
    answer = endpoints.first_known(url, paths, launchers.flag(argv, "--api-key") or "", _TIMEOUT_S)
    return {"status": answer.status, "body": answer.body}


def _is_text(words: "tuple[bytes, ...]") -> bool:
    return all(word == procfs.text(word).encode("utf-8") for word in words)


def collect(
    table: "dict[int, procfs.Process]", pid: int, known: str, account: "list[int]"
) -> "dict[str, object]":
    """All facts of one server.

    Args:
        table: All processes.
        pid: The launcher.
        known: How it was recognised.
        account: For whom its files may be writable; see `package.worker_files`.
    """
    process = table[pid]
    argv = [procfs.text(word) for word in process.argv]
    uid = os.stat(f"/proc/{pid}").st_uid
    environ, others = _environment(pid)
    below = procfs.descendants(table, [pid])
    surroundings = _surroundings(table, process)
    root = "" if surroundings["same_mounts"] else f"/proc/{pid}/root"
    cwd = procfs.link(f"/proc/{pid}/cwd")
    raw = None if environ is None else {os.fsencode(k): os.fsencode(v) for k, v in environ.items()}
    found = package.package(package.Place(pid, uid, argv, cwd, raw, root))
    tree = [pid] + [child.pid for child in below]
    listening = sockets.listeners(tree, str(pid))
    address, port = _address(argv, pid, listening)
    return {
        "pid": pid,
        "start_ticks": process.start_ticks,
        "known": known,
        "argv": argv,
        "argv_is_text": _is_text(process.argv),
        "cwd": cwd,
        "user": procfs.user_name(uid),
        "readable": environ is not None,
        "environ": environ or {},
        "undecodable_names": others,
        "tree": [{"pid": p.pid, "start_ticks": p.start_ticks, "title": p.title} for p in [process, *below]],
        "session": launchers.own_session(table, pid),
        "output": _output(table, pid, tree, root),
        "listening": [listener.as_json() for listener in listening if listener.pid],
        "answers_at": {"address": address, "port": port},
        "server_info": _server_info(argv, address, port),
        "package": found,
        "workers": package.worker_files(root, str(found["path"]), account),
        "surroundings": surroundings,
    }
