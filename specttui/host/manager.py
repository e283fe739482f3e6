"""Who brought a server up, and what to do when that is not a shell."""

from __future__ import annotations

import re
from collections.abc import Mapping

from specttui.events import Manager, ManagerKind
from specttui.host.facts import Surroundings

_CONTAINER = re.compile(
    r"(libpod|docker|cri-containerd|crio)?[-/:]([0-9a-f]{64})(?:\.scope)?(?:/|$)", re.MULTILINE
)
_POD = re.compile(r"kubepods.*?pod([0-9a-f]{8}[0-9a-f_-]{28})")
_UNIT = re.compile(r"([^/\n]+\.service)(?=/|$)", re.MULTILINE)
_JOB = re.compile(r"/job_(\d+)")
#: The process above each service of runit, s6 and daemontools, and how each is called.
_SERVICE_SUPERVISORS = {"runsv": "runit", "s6-supervise": "s6", "supervise": "daemontools"}
#: How a supervisor stops a service for good.
_DOWN = {
    "supervisord": "supervisorctl stop {}",
    "runit": "sv down {}",
    "s6": "s6-svc -d SCANDIR/{}",
    "daemontools": "svc -d /service/{}",
    "pm2": "pm2 stop {}",
}
#: Programs through which a person starts others: what is above them looks after them, not after the server.
_PEOPLE = re.compile(r"sshd|tmux|screen|jupyter|code-server|node$|login$")
#: Services that people log in or run things through; a process in one of them is nobody's service.
_LOGIN_SERVICES = re.compile(
    r"(user@.*|ssh|sshd|sshd?@.*|getty@.*|cron|crond|atd|docker|containerd|kubelet|slurmd|supervisor|supervisord"
    r"|systemd-.*|dbus|init|session.*|code-server.*|jupyter.*)\.service"
)


def manager_of(surroundings: Surroundings, environ: Mapping[str, str]) -> Manager:
    """Name the manager of a process.

    Args:
        surroundings: Its control groups, parents and namespaces.
        environ: Its environment.
    """
    return (
        _other_container(surroundings)
        or _supervisor(surroundings, environ)
        or _unit(surroundings.cgroup)
        or _job(surroundings, environ)
        or _own_container(surroundings, environ)
        or _multiplexer(surroundings, environ)
        or Manager()
    )


def _other_container(surroundings: Surroundings) -> Manager | None:
    """The container that holds the process while we are outside of it."""
    if surroundings.same_mounts:
        return None
    pod = _POD.search(surroundings.cgroup)
    container = _CONTAINER.search(surroundings.cgroup)
    if pod:
        detail = container[2] if container else ""
        return Manager(kind=ManagerKind.KUBERNETES, name=pod[1].replace("_", "-"), detail=detail)
    if container:
        runtime = "podman" if container[1] == "libpod" else "docker"
        return Manager(kind=ManagerKind.DOCKER, name=container[2], detail=runtime)
    return None


def _unit(cgroup: str) -> Manager | None:
    units = [unit for unit in _UNIT.findall(cgroup) if not _LOGIN_SERVICES.fullmatch(unit)]
    if not units:
        return None
    detail = "user" if "/user.slice/" in cgroup else "system"
    return Manager(kind=ManagerKind.SYSTEMD, name=units[-1], detail=detail)


def _job(surroundings: Surroundings, environ: Mapping[str, str]) -> Manager | None:
    job = _JOB.search(surroundings.cgroup) if "slurm" in surroundings.cgroup else None
    if job:
        return Manager(kind=ManagerKind.SLURM, name=job[1])
    if any(parent.comm.startswith("slurmstepd") for parent in surroundings.parents):
        return Manager(kind=ManagerKind.SLURM, name=environ.get("SLURM_JOB_ID", ""))
    return None


def _supervisor(surroundings: Surroundings, environ: Mapping[str, str]) -> Manager | None:
    """A supervisor of services above the process; `detail` says which one."""
    for parent in surroundings.parents:
        if _PEOPLE.match(parent.comm):
            return None
        if parent.comm == "supervisord":
            names = (environ.get(f"SUPERVISOR_{part}_NAME", "") for part in ("GROUP", "PROCESS"))
            name = ":".join(dict.fromkeys(name for name in names if name))
            return Manager(kind=ManagerKind.SUPERVISOR, name=name, detail="supervisord")
        if parent.comm in _SERVICE_SUPERVISORS:
            detail = _SERVICE_SUPERVISORS[parent.comm]
            return Manager(kind=ManagerKind.SUPERVISOR, name=parent.argument, detail=detail)
        if parent.comm.startswith("PM2 "):
            return Manager(kind=ManagerKind.SUPERVISOR, name=environ.get("name", ""), detail="pm2")
    return None


def _own_container(surroundings: Surroundings, environ: Mapping[str, str]) -> Manager | None:
    """The container that we are in ourselves, when the server is what it was started for."""
    in_pod = "KUBERNETES_SERVICE_HOST" in environ
    if not (surroundings.in_first_session and (surroundings.in_container or in_pod)):
        return None
    kind = ManagerKind.KUBERNETES if in_pod else ManagerKind.DOCKER
    return Manager(kind=kind, name=environ.get("HOSTNAME", ""), detail="we are inside it")


def _multiplexer(surroundings: Surroundings, environ: Mapping[str, str]) -> Manager | None:
    names = [parent.comm for parent in surroundings.parents]
    if "TMUX" in environ or any(name.startswith("tmux") for name in names):
        return Manager(kind=ManagerKind.TMUX, name=environ.get("TMUX_PANE", ""))
    if "STY" in environ or "screen" in names:
        return Manager(kind=ManagerKind.TMUX, name=environ.get("STY", ""), detail="screen")
    return None


def remedy(manager: Manager) -> str:
    """What the user does to restart a server that its manager owns; "" where nobody owns it."""
    way = _change(manager, manager.name or "NAME")
    if not way:
        return ""
    profile = "Or give the host's profile stop and start commands ([hosts.NAME.commands])."
    return f"{way}, start the server in tmux there, and let specttui find it again. {profile}"


def _change(manager: Manager, name: str) -> str:
    """How to change the arguments through the manager, or else to get it out of the way."""
    match manager.kind:
        case ManagerKind.SYSTEMD:
            control = "systemctl --user" if manager.detail == "user" else "sudo systemctl"
            edit = f"`{control} edit {name}` to change its ExecStart and `{control} restart {name}`"
            return f"Run {edit}; or `{control} stop {name}`"
        case ManagerKind.DOCKER:
            tool = manager.detail if manager.detail in {"docker", "podman"} else "docker"
            down = f"`{tool} update --restart=no {name[:12]}` and `{tool} stop {name[:12]}`"
            return f"Run {down}, start a container of the same image with a shell as its command"
        case ManagerKind.KUBERNETES:
            edit = "Change the arguments in the pod's deployment (`kubectl edit`)"
            return f"{edit}, or run a pod whose command is `sleep infinity`"
        case ManagerKind.SLURM:
            return (
                f"Run `scancel {name}` and submit the job with the new arguments; or take nodes with `salloc`"
            )
        case ManagerKind.SUPERVISOR if manager.detail in {"", "supervisord"}:
            return f"Change its command and run `supervisorctl update`; or run `supervisorctl stop {name}`"
        case ManagerKind.SUPERVISOR:
            return f"Run `{_DOWN[manager.detail].format(name)}`"
        case _:
            return ""
