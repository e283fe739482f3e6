# ruff: noqa: ASYNC220, ASYNC240 - the files and programs of a test are small and local
"""Discovery against real processes: one visit, and everything a restart needs."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.fake_nvidia_smi import write_nvidia_smi
from support.fake_sglang import READY, WORKER_V2, FakeServer, launch_argv, start_fake, write_package
from support.local_remote import LocalRemote

from specttui.events import FileState, Gpu, LogKind, ManagerKind, SpecSettings
from specttui.host.discovery import discover
from specttui.host.found import FoundServer
from specttui.host.remote import CommandResult

SPECULATIVE = (
    "--speculative-algorithm",
    "EAGLE3",
    "--speculative-num-steps",
    "3",
    "--speculative-eagle-topk",
    "1",
)


@pytest.fixture
def remote(tmp_path: Path) -> LocalRemote:
    return LocalRemote(tmp_path)


@contextlib.contextmanager
def running(folder: Path, *flags: str, **fake: str) -> Iterator[FakeServer]:
    server = start_fake(folder, *flags, fake=fake)
    try:
        yield server
    finally:
        server.kill()


async def only(remote: LocalRemote, server: FakeServer) -> FoundServer:
    found = await discover(remote, port=server.port)
    assert [one.pid for one in found.servers] == [server.pid]
    return found.servers[0]


async def test_everything_of_a_speculative_server(remote: LocalRemote, tmp_path: Path) -> None:
    flags = (
        *SPECULATIVE,
        "--speculative-num-draft-tokens",
        "9",
        "--tp-size",
        "2",
        "--api-key",
        "sk-secret-1",
    )
    with running(tmp_path, *flags, NCCL_PROTO="LL", MY_TOKEN="hidden") as server:
        found = await only(remote, server)
    info = found.info
    assert len(remote.commands) == 1
    assert found.launch.argv == tuple(server.argv)
    assert found.launch.cwd == str(tmp_path)
    assert found.launch.env["MY_TOKEN"] == "hidden"
    assert found.launch.env["NCCL_PROTO"] == "LL"
    assert "sk-secret-1" not in info.model_dump_json()
    assert "hidden" not in info.model_dump_json()
    assert info.launch.env["NCCL_PROTO"] == "LL"
    assert (info.port, info.tensor_parallel, info.model_path) == (server.port, 2, "/m/fake")
    assert info.requested == SpecSettings(algorithm="EAGLE3", num_steps=3, eagle_topk=1, num_draft_tokens=9)
    assert info.effective == SpecSettings(
        algorithm="EAGLE3", num_steps=3, eagle_topk=1, num_draft_tokens=4, overlap=True
    )
    assert list(info.child_pids) == server.children
    assert [process.title for process in found.tree[1:]] == [
        "sglang::scheduler_TP0",
        "sglang::scheduler_TP1",
        "sglang::detokenizer",
    ]
    assert (info.log.kind, info.log.path) == (LogKind.FILE, str(server.log))
    assert found.launch.log_path == str(server.log)
    assert info.manager.kind is ManagerKind.BARE
    assert (info.interpreter, info.sglang_version) == (sys.executable, "0.5.12")
    assert found.ports == (server.port,)
    assert found.session == server.pid
    assert (found.serving, found.restartable, found.problems) == (True, True, ())
    assert found.server_args["speculative_num_draft_tokens"] == 4
    assert "api_key" not in found.server_args


async def test_the_overlapped_worker_and_its_file(remote: LocalRemote, tmp_path: Path) -> None:
    with running(tmp_path, *SPECULATIVE) as server:
        found = await only(remote, server)
    path = tmp_path / "packages/sglang/srt/speculative/eagle_worker_v2.py"
    worker = found.info.worker
    assert (worker.path, worker.class_name, worker.state) == (str(path), "EAGLEWorkerV2", FileState.ORIGINAL)
    assert worker.size_bytes == path.stat().st_size
    assert worker.writable
    assert found.sources[str(path)] == path.read_bytes()
    assert [other.class_name for other in found.info.other_workers] == ["EAGLEWorker"]
    assert found.choice.why == "the running server has overlap scheduling on"


async def test_the_synchronous_worker_when_the_server_says_so(remote: LocalRemote, tmp_path: Path) -> None:
    with running(tmp_path, *SPECULATIVE, FAKE_SYNC="1") as server:
        found = await only(remote, server)
    assert found.info.worker.class_name == "EAGLEWorker"
    assert found.info.effective.overlap is False


async def test_a_server_that_still_loads_is_found_with_what_it_was_asked_for(
    remote: LocalRemote, tmp_path: Path
) -> None:
    server = start_fake(tmp_path, *SPECULATIVE, fake={"FAKE_LOAD_S": "600"}, wait="server_args=")
    try:
        found = await only(remote, server)
    finally:
        server.kill()
    assert not found.serving
    assert found.info.port == server.port
    assert found.info.effective.num_draft_tokens == 4
    assert found.info.worker.class_name == "EAGLEWorkerV2"


async def test_a_checkout_in_the_working_folder_wins_over_the_path(
    remote: LocalRemote, tmp_path: Path
) -> None:
    write_package(tmp_path / "packages", version="0.5.9")
    write_package(tmp_path, version="0.4.10")
    with running(tmp_path) as server:
        found = await only(remote, server)
    assert found.info.sglang_path == str(tmp_path / "sglang")
    assert found.info.sglang_version == "0.4.10"


async def test_a_namespace_folder_does_not_hide_the_package(remote: LocalRemote, tmp_path: Path) -> None:
    (tmp_path / "sglang").mkdir()
    with running(tmp_path) as server:
        found = await only(remote, server)
    assert found.info.sglang_path == str(tmp_path / "packages/sglang")


async def test_a_console_script_and_a_config_file(remote: LocalRemote, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    write_package(packages)
    (packages / "yaml.py").write_text(
        "import json\nYAMLError = ValueError\ndef safe_load(file): return json.load(file)\n"
    )
    config = tmp_path / "config.yaml"
    config.write_text('{"speculative-algorithm": "EAGLE", "speculative-num-steps": 5}')
    script = tmp_path / "bin" / "sglang"
    script.parent.mkdir()
    script.write_text(
        "import sys, runpy\nsys.argv.pop(1)\nrunpy.run_module('sglang.launch_server', run_name='__main__')\n"
    )
    argv = [
        sys.executable,
        str(script),
        "serve",
        *launch_argv(0)[3:5],
        "--port",
        "0",
        "--config",
        str(config),
    ]
    env = dict(os.environ) | {"PYTHONPATH": str(packages), "FAKE_LOAD_S": "600"}
    process = subprocess.Popen(
        argv, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        found = next(one for one in (await discover(remote)).servers if one.pid == process.pid)
    finally:
        process.kill()
        process.wait()
    assert found.launch.argv == tuple(argv)
    assert found.config == {"speculative-algorithm": "EAGLE", "speculative-num-steps": 5}
    assert found.info.requested.num_steps == 5
    assert found.info.sglang_path == str(packages / "sglang")
    assert found.info.log.kind is LogKind.NULL
    assert [problem.text for problem in found.problems] == [
        "The server's log cannot be followed: it goes to /dev/null."
    ]


async def test_output_through_tee_is_followed_in_its_file(remote: LocalRemote, tmp_path: Path) -> None:
    write_package(tmp_path / "packages")
    log = tmp_path / "tee.log"
    tee = subprocess.Popen(["tee", str(log)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process = subprocess.Popen(
        launch_argv(0),
        cwd=tmp_path,
        env=dict(os.environ) | {"PYTHONPATH": str(tmp_path / "packages"), "FAKE_LOAD_S": "600"},
        stdin=subprocess.DEVNULL,
        stdout=tee.stdin,
        stderr=tee.stdin,
    )
    try:
        found = next(one for one in (await discover(remote)).servers if one.pid == process.pid)
    finally:
        for one in (process, tee):
            one.kill()
            one.wait()
        assert tee.stdin is not None
        tee.stdin.close()
    assert (found.info.log.kind, found.info.log.path) == (LogKind.FILE, str(log))
    assert found.launch.log_path == ""


async def test_a_deleted_log_is_still_followed(remote: LocalRemote, tmp_path: Path) -> None:
    with running(tmp_path) as server:
        server.log.unlink()
        found = await only(remote, server)
        log = found.info.log
        assert (log.kind, log.path, log.detail) == (
            LogKind.FILE,
            f"/proc/{server.pid}/fd/2",
            f"deleted: {server.log}",
        )
        assert "fired up" in Path(log.path).read_text()
        assert found.launch.log_path == ""


async def test_the_users_own_word_on_the_log(remote: LocalRemote, tmp_path: Path) -> None:
    with running(tmp_path) as server:
        found = (await discover(remote, port=server.port, log_path="/logs/mine.log")).servers[0]
    assert (found.info.log.path, found.launch.log_path) == ("/logs/mine.log", "/logs/mine.log")


async def test_a_wrapper_program_is_found_by_its_workers(remote: LocalRemote, tmp_path: Path) -> None:
    program = tmp_path / "my_engine.py"
    program.write_text(
        "import subprocess, time\n"
        "child = subprocess.Popen(['sglang::scheduler', '600'], executable='/bin/sleep')\n"
        "print('up', flush=True)\ntime.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        found = next(one for one in (await discover(remote)).servers if one.pid == process.pid)
    finally:
        os.killpg(process.pid, 9)
        process.wait()
        process.stdout.close()
    assert not found.restartable
    assert (
        found.problems[0].text == f"The server was started by another program ({sys.executable} {program})."
    )
    assert found.problems[0].remedy.startswith("specttui can watch this server")


async def test_two_servers_and_the_one_asked_for(remote: LocalRemote, tmp_path: Path) -> None:
    with running(tmp_path) as first, running(tmp_path) as second:
        pids = {server.pid for server in (await discover(remote)).servers}
        assert {first.pid, second.pid} <= pids
        assert (await only(remote, second)).pid == second.pid


async def test_a_port_that_nobody_serves(remote: LocalRemote, tmp_path: Path) -> None:
    with running(tmp_path) as server:
        found = await discover(remote, port=1)
    assert found.servers == ()
    problem = next(one for one in found.problems if one.text == "No SGLang server serves port 1.")
    assert str(server.port) in problem.remedy


async def test_variables_that_are_no_text_are_named(remote: LocalRemote, tmp_path: Path) -> None:
    write_package(tmp_path / "packages")
    env = os.environb | {
        b"PYTHONPATH": os.fsencode(tmp_path / "packages"),
        b"FAKE_LOAD_S": b"600",
        b"ODD": b"\xff",
    }
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(launch_argv(0), cwd=tmp_path, env=env, stdout=log, stderr=log)
    try:
        found = next(one for one in (await discover(remote)).servers if one.pid == process.pid)
    finally:
        process.kill()
        process.wait()
    assert "ODD" not in found.launch.env
    assert [problem.text for problem in found.problems] == [
        "These variables of the server are not UTF-8 text: ODD."
    ]


async def test_gpus(tmp_path: Path) -> None:
    smi = write_nvidia_smi(tmp_path / "bin", used_mib=[89530], utilisation="[N/A]")
    remote = LocalRemote(tmp_path, env={"PATH": f"{smi.parent}:{os.environ['PATH']}"})
    with running(tmp_path) as server:
        found = await only(remote, server)
    assert found.info.gpus == (
        Gpu(
            index=0,
            name="NVIDIA H200",
            memory_total_mib=143771,
            memory_used_mib=89530,
            power_w=370.0,
            temperature_c=41.0,
        ),
    )


class AsNobody(LocalRemote):
    """The same machine, seen by an account that owns nothing."""

    async def run(self, argv: Sequence[str], **options: Any) -> CommandResult:
        prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        return await super().run([*prefix, *argv], **options)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can look as somebody else")
async def test_another_users_server(tmp_path: Path) -> None:
    with running(tmp_path, *SPECULATIVE) as server:
        found = await discover(AsNobody(Path("/")), port=server.port)
    assert [one.pid for one in found.servers] == [server.pid]
    one = found.servers[0]
    assert (one.serving, one.restartable, one.port) == (True, False, server.port)
    assert one.info.effective.num_draft_tokens == 4
    assert [problem.text for problem in one.problems] == [
        f"The server (process {server.pid}) belongs to root; nobody may not read its environment."
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can enter another file system")
async def test_a_server_in_a_file_system_of_its_own(remote: LocalRemote, tmp_path: Path) -> None:
    write_package(tmp_path / "packages")
    mount = (
        'mount -t tmpfs none /mnt && cp -r "$0" /mnt/ && cd /mnt && exec env PYTHONPATH=/mnt/packages "$@"'
    )
    argv = ["unshare", "-m", "/bin/sh", "-c", mount, str(tmp_path / "packages"), *launch_argv(0)]
    log = tmp_path / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    server = FakeServer(process, 0, log, argv)
    try:
        try:
            server.wait_for(READY)
        except AssertionError:
            pytest.skip(f"no mount namespaces here: {log.read_text()}")
        found = next(one for one in (await discover(remote)).servers if one.pid == process.pid)
        worker = found.info.worker
        assert Path(worker.path).read_text() == WORKER_V2
    finally:
        server.kill()
    assert found.info.sglang_path == "/mnt/packages/sglang"
    assert worker.path == f"/proc/{process.pid}/root/mnt/packages/sglang/srt/speculative/eagle_worker_v2.py"
    assert (worker.class_name, worker.writable) == ("EAGLEWorkerV2", True)
    assert found.info.log.path == str(log)
