"""Managers by control group, parents and namespaces, in the shapes that hosts show."""

from __future__ import annotations

import pytest

from specttui.events import Manager, ManagerKind
from specttui.host.facts import Parent, Surroundings
from specttui.host.manager import manager_of, remedy

ID = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
POD = "1234abcd-12ab-34cd-56ef-1234567890ab"
POD_UNIT = POD.replace("-", "_")
SLICES = "/kubepods.slice/kubepods-burstable.slice"


@pytest.mark.parametrize(
    ("cgroup", "expected"),
    [
        ("0::/system.slice/sglang.service\n", ("systemd", "sglang.service", "system")),
        (
            "0::/system.slice/system-sglang.slice/sglang@0.service\n",
            ("systemd", "sglang@0.service", "system"),
        ),
        ("0::/system.slice/sglang.service/payload\n", ("systemd", "sglang.service", "system")),
        (
            "0::/user.slice/user-1000.slice/user@1000.service/app.slice/kimi.service\n",
            ("systemd", "kimi.service", "user"),
        ),
        ("1:name=systemd:/system.slice/run-u42.service\n0::/\n", ("systemd", "run-u42.service", "system")),
        ("0::/user.slice/user-1000.slice/session-3.scope\n", ("bare", "", "")),
        ("0::/user.slice/user-1000.slice/user@1000.service/tmux-spawn-1.scope\n", ("bare", "", "")),
        ("0::/system.slice/ssh.service\n", ("bare", "", "")),
        ("0::/system.slice/docker.service\n", ("bare", "", "")),
        ("0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n", ("slurm", "4711", "")),
        ("7:memory:/slurm/uid_1000/job_4711/step_batch\n", ("slurm", "4711", "")),
        (f"0::/system.slice/docker-{ID}.scope\n", ("bare", "", "")),
        ("0::/\n", ("bare", "", "")),
        ("", ("bare", "", "")),
    ],
)
def test_from_the_control_group(cgroup: str, expected: tuple[str, str, str]) -> None:
    found = manager_of(Surroundings(cgroup=cgroup), {})
    assert (found.kind.value, found.name, found.detail) == expected


@pytest.mark.parametrize(
    ("cgroup", "expected"),
    [
        (f"0::/system.slice/docker-{ID}.scope\n", ("docker", ID, "docker")),
        (f"12:cpu:/docker/{ID}\n", ("docker", ID, "docker")),
        (f"0::/machine.slice/libpod-{ID}.scope\n", ("docker", ID, "podman")),
        (
            f"0::{SLICES}/kubepods-burstable-pod{POD_UNIT}.slice/cri-containerd-{ID}.scope\n",
            ("kubernetes", POD, ID),
        ),
        (f"11:memory:/kubepods/burstable/pod{POD}/{ID}\n", ("kubernetes", POD, ID)),
        ("0::/system.slice/private-tmp.service\n", ("systemd", "private-tmp.service", "system")),
    ],
)
def test_from_outside_of_the_servers_file_system(cgroup: str, expected: tuple[str, str, str]) -> None:
    found = manager_of(Surroundings(cgroup=cgroup, same_mounts=False), {})
    assert (found.kind.value, found.name, found.detail) == expected


def test_inside_a_container_only_its_own_purpose_is_managed() -> None:
    main = Surroundings(in_container=True, in_first_session=True)
    by_hand = Surroundings(in_container=True, in_first_session=False)
    assert manager_of(main, {"HOSTNAME": "0f1e2d3c4b5a"}) == Manager(
        kind=ManagerKind.DOCKER, name="0f1e2d3c4b5a", detail="we are inside it"
    )
    assert manager_of(by_hand, {}).kind is ManagerKind.BARE


def test_inside_a_pod() -> None:
    env = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "sglang-0"}
    assert manager_of(Surroundings(in_first_session=True), env).kind is ManagerKind.KUBERNETES
    assert manager_of(Surroundings(), env).kind is ManagerKind.BARE


@pytest.mark.parametrize(
    ("parents", "env", "kind", "name"),
    [
        (("bash", "tmux: server"), {"TMUX_PANE": "%3"}, ManagerKind.TMUX, "%3"),
        ((), {"TMUX": "/tmp/tmux-0/default,1,0"}, ManagerKind.TMUX, ""),
        (("bash", "screen"), {}, ManagerKind.TMUX, ""),
        (("supervisord",), {"SUPERVISOR_PROCESS_NAME": "sglang"}, ManagerKind.SUPERVISOR, "sglang"),
        (
            ("bash", "supervisord"),
            {"SUPERVISOR_GROUP_NAME": "llm", "SUPERVISOR_PROCESS_NAME": "sglang_0"},
            ManagerKind.SUPERVISOR,
            "llm:sglang_0",
        ),
        (("bash", "jupyter-lab", "supervisord"), {}, ManagerKind.BARE, ""),
        (("bash", "sshd", "supervisord"), {}, ManagerKind.BARE, ""),
        (("PM2 v5.3.0: God",), {"name": "kimi"}, ManagerKind.SUPERVISOR, "kimi"),
        (("slurmstepd",), {"SLURM_JOB_ID": "12"}, ManagerKind.SLURM, "12"),
        (("bash", "sshd"), {}, ManagerKind.BARE, ""),
    ],
)
def test_from_parents_and_environment(
    parents: tuple[str, ...], env: dict[str, str], kind: ManagerKind, name: str
) -> None:
    above = tuple(Parent(pid=number, comm=comm) for number, comm in enumerate(parents, 2))
    found = manager_of(Surroundings(parents=above), env)
    assert (found.kind, found.name) == (kind, name)


@pytest.mark.parametrize(
    ("comm", "detail", "command"),
    [
        ("runsv", "runit", "sv down sglang"),
        ("s6-supervise", "s6", "s6-svc -d SCANDIR/sglang"),
        ("supervise", "daemontools", "svc -d /service/sglang"),
    ],
)
def test_supervisors_name_the_folder_of_their_service(comm: str, detail: str, command: str) -> None:
    above = (Parent(pid=9, comm="sh"), Parent(pid=8, comm=comm, argument="sglang"))
    found = manager_of(Surroundings(parents=above, cgroup="0::/system.slice/pm2-root.service\n"), {})
    assert found == Manager(kind=ManagerKind.SUPERVISOR, name="sglang", detail=detail)
    assert remedy(found).startswith(f"Run `{command}`, start the server in tmux there")


def test_nobody_needs_no_remedy() -> None:
    assert remedy(Manager()) == ""
    assert remedy(Manager(kind=ManagerKind.TMUX)) == ""


def test_a_remedy_is_complete() -> None:
    assert remedy(Manager(kind=ManagerKind.SYSTEMD, name="kimi.service", detail="user")) == (
        "Run `systemctl --user edit kimi.service` to change its ExecStart and `systemctl --user restart "
        "kimi.service`; or `systemctl --user stop kimi.service`, start the server in tmux there, and let "
        "specttui find it again. Or give the host's profile stop and start commands ([hosts.NAME.commands])."
    )
