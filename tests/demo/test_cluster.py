"""Demo hosts whose servers are the nodes of one: start, decoding, restart by hand, deaths, and the end."""

import asyncio
import re
import socket

import pytest
from support.demo_client import PATIENCE_S, all_gone, fetch, log_with, login, main_pid, sh
from support.prompters import ScriptedPrompter

from specttui.demo.cluster import DemoCluster
from specttui.demo.host import DemoHost
from specttui.demo.processes import marked_pids
from specttui.demo.server_command import on_each_node
from specttui.demo.simulated.sglang.simulation.timing import PROFILES
from specttui.errors import DemoError
from specttui.events import FailureSeen, ProbeCycles, ProbeInstalled, ProbeSummary
from specttui.log.parser import LogParser
from specttui.probe.patch import apply
from specttui.session.checking import check
from specttui.ui.start import demo_options

FAILED = "Received sigquit from a child process. It usually means the child failed."
DECODES = re.compile(r"TP0\] Decode batch, .*accept len: \d\.\d\d, .*gen throughput \(token/s\): (\d+\.\d\d)")


@pytest.fixture
async def cluster():
    async with DemoCluster(3, speed=20, seed=5) as cluster:
        await cluster.wait_ready(PATIENCE_S)
        yield cluster


@pytest.fixture
async def waiting():
    """Two nodes that are not started yet and give up soon."""
    async with DemoCluster(2, speed=50, start_server=False, flags=("--dist-timeout", "1")) as cluster:
        yield cluster


async def children(host: DemoHost) -> list[str]:
    async with login(host) as connection:
        pid = await main_pid(host, connection)
        titles = f"for p in $(pgrep -P {pid}); do tr -d '\\0' </proc/$p/cmdline; echo; done"
        return (await sh(connection, titles)).split()


async def kill(host: DemoHost, signal: str) -> None:
    """Signal the node's launcher, unless it went with another node."""
    async with login(host) as connection:
        await sh(
            connection,
            f"pkill -{signal} -xf 'python3 -m sglang.launch_server .*--port {host.server_port} .*'",
        )


async def stop(cluster: DemoCluster) -> None:
    """Stop the server on all nodes."""
    for host in cluster.hosts:
        await kill(host, "TERM")
    assert [await all_gone(host.demo_id) for host in cluster.hosts] == [True] * len(cluster.hosts)


def events(host: DemoHost, kind: type, after: int = 0) -> list:
    parser = LogParser()
    found = [*parser.feed(host.log_path.read_bytes()[after:]), *parser.finish()]
    return [event for event in found if isinstance(event, kind)]


def failures(host: DemoHost) -> list[tuple[str, bool]]:
    return [(event.category, event.fatal) for event in events(host, FailureSeen)]


async def test_three_hosts_come_up_as_one_server(cluster):
    assert cluster.names == ("node0", "node1", "node2")
    assert [await children(host) for host in cluster.hosts] == [
        [*(f"sglang::scheduler_TP{rank}" for rank in range(3)), "sglang::detokenizer"],
        [f"sglang::scheduler_TP{rank}" for rank in range(3, 6)],
        [f"sglang::scheduler_TP{rank}" for rank in range(6, 9)],
    ]
    body = {"text": "why", "sampling_params": {"max_new_tokens": 12}}
    assert '"completion_tokens": 12' in await fetch(cluster.head, "/generate", body)
    assert DECODES.search(await log_with(cluster.head, "Decode batch"))


async def test_a_node_that_answers_nobody_loads_and_then_says_nothing_more(cluster):
    await log_with(cluster.head, "Decode batch")
    for first, host in ((3, cluster.hosts[1]), (6, cluster.hosts[2])):
        log = host.log_path.read_bytes().decode()
        lines = log.splitlines()
        for rank in range(first, first + 3):
            assert f" TP{rank}] Load weight end. elapsed=" in log
        assert "\rMulti-thread loading shards:  50% Completed | 32/64 [" in log
        assert "server_args=ServerArgs(" in log
        assert f"node_rank={host.node_rank}, " in log
        assert f" TP{first + 2}] Capture draft cuda graph end. Time elapsed: " in lines[-1]
        with socket.socket() as client:
            assert client.connect_ex(("127.0.0.1", host.server_port)) != 0


async def test_each_host_is_seen_with_its_own_node_alone(cluster):
    for host in cluster.hosts:
        options = demo_options(host.demo_target(), host.server_port)
        (server,) = (await check(options, ScriptedPrompter())).discovery.servers
        assert (server.info.node_rank, server.info.node_count) == (host.node_rank, 3)
        assert server.info.worker.path == str(host.worker_path)
        assert server.info.log.path == str(host.log_path)
        assert [gpu.memory_used_mib for gpu in server.info.gpus] == [83190] * 3
        titles = [process.title for process in server.tree[1:]]
        assert titles == await children(host)
        assert {process.pid for process in server.tree} <= set(marked_pids(host.demo_id))


async def test_patched_and_restarted_by_hand_every_rank_is_timed(cluster):
    for host in cluster.hosts:
        source = host.worker_path.read_bytes()
        host.worker_path.write_bytes(apply(source, session_id="by-hand", utc="2026-11-29T00:00:00Z"))
    commands = {host: " ".join(host.server_argv).replace("steps 5", "steps 2") for host in cluster.hosts}
    await stop(cluster)
    sizes = {host: host.log_path.stat().st_size for host in cluster.hosts}
    for host, command in commands.items():
        async with login(host) as connection:
            prefix = f"PYTHONPATH={host.scratch.site} setsid"
            await sh(connection, f"{prefix} {command} >>sglang.log 2>&1 </dev/null &")
    await log_with(cluster.head, "Decode batch", after=sizes[cluster.head])
    timed = {"node0": {"TP1", "TP2"}, "node1": {"TP3", "TP4", "TP5"}, "node2": {"TP6", "TP7", "TP8"}}
    for host in cluster.hosts:
        await _summaries_of(host, timed[host.name], sizes[host])
        installed = events(host, ProbeInstalled, sizes[host])
        assert {event.rank for event in installed} == timed[host.name] | (
            {""} if host is cluster.head else set()
        )
        assert {event.worker_class for event in installed} == {"EAGLEWorkerV2"}
    cycles = events(cluster.head, ProbeCycles, sizes[cluster.head])
    assert {(event.rank, step) for event in cycles for step in event.steps} == {("", 2)}
    assert not any(events(host, ProbeCycles, sizes[host]) for host in cluster.hosts[1:])


async def _summaries_of(host: DemoHost, ranks: set[str], after: int) -> None:
    """Wait until each of these ranks has summed its cycles up."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + PATIENCE_S
    while True:
        found = {event.rank: event for event in events(host, ProbeSummary, after)}
        if set(found) == ranks:
            break
        assert clock() < deadline, f"{host.name} has only {sorted(found)}"
        await asyncio.sleep(0.2)
    for summary in found.values():
        assert summary.cycles > 0
        assert {phase.value for phase in summary.median_phase_ms} >= {"draft", "verify", "draft_extend"}


async def test_the_death_of_a_node_ends_the_others_with_a_failure_that_is_recognised(cluster):
    await log_with(cluster.head, "Decode batch")
    await kill(cluster.hosts[1], "KILL")
    assert [await all_gone(host.demo_id) for host in cluster.hosts] == [True] * 3
    assert failures(cluster.hosts[1]) == []
    for host in (cluster.head, cluster.hosts[2]):
        assert ("nccl", True) in failures(host)
        assert "ncclRemoteError: A call failed possibly due to a network error" in host.log_path.read_text()
    assert FAILED in cluster.hosts[2].log_path.read_text()
    assert "SIGQUIT received. signum=None" in cluster.head.log_path.read_text()


async def test_the_death_of_one_rank_ends_all(cluster):
    async with login(cluster.hosts[2]) as connection:
        pid = await main_pid(cluster.hosts[2], connection)
        await sh(connection, f"kill -9 $(pgrep -P {pid} -xf sglang::scheduler_TP7)")
    assert [await all_gone(host.demo_id) for host in cluster.hosts] == [True] * 3
    assert re.search(
        r"\] Scheduler or DataParallelController \d+ terminated with -9$",
        cluster.hosts[2].log_path.read_text(),
        re.MULTILINE,
    )
    assert all(("nccl", True) in failures(host) for host in cluster.hosts)


async def test_a_node_that_fails_while_loading_ends_the_others(cluster):
    cluster.hosts[2].worker_path.write_text("raise RuntimeError('broken by hand')\n")
    await stop(cluster)
    for host in cluster.hosts:
        host.log_path.write_bytes(b"")
    cluster.start_server()
    assert [await all_gone(host.demo_id) for host in cluster.hosts] == [True] * 3
    assert failures(cluster.hosts[2]) == [("scheduler_exception", True)]
    assert failures(cluster.hosts[1]) == failures(cluster.head) == [("nccl", True)]
    with pytest.raises(DemoError) as raised:
        await cluster.wait_ready(0.0)
    assert "node2:\n" in raised.value.cause
    assert "RuntimeError: broken by hand" in raised.value.cause


async def test_a_node_that_never_comes(waiting):
    waiting.head.start_server()
    log = await log_with(waiting.head, FAILED)
    error = (
        "torch.distributed.DistStoreError: Timed out after 2 seconds waiting for clients. 4/8 clients joined."
    )
    assert error in log.splitlines()
    assert " TP3] Init torch distributed begin.\n" in log
    assert "Load weight begin" not in log
    assert failures(waiting.head) == [("nccl", True)]
    assert await all_gone(waiting.head.demo_id)


async def test_a_head_that_never_comes(waiting):
    host = waiting.hosts[1]
    host.start_server()
    log = await log_with(host, FAILED)
    assert "torch.distributed.DistNetworkError: The client socket has timed out after 1000ms" in log
    assert failures(host) == [("nccl", True)]
    assert await all_gone(host.demo_id)


async def test_a_meeting_place_that_is_taken(waiting):
    with socket.create_server(("127.0.0.1", waiting.dist_port)):
        waiting.head.start_server()
        log = await log_with(waiting.head, FAILED)
    assert "DistNetworkError: The server socket has failed to listen on any local network address." in log
    assert failures(waiting.head) == [("nccl", True)]


async def test_nodes_that_count_differently_never_meet():
    """Node 1 of 4 brings ranks 2 and 3, which node 0 of 2 has; ranks 4 to 7 are nobody's."""
    async with (
        DemoCluster(2, speed=50, start_server=False, flags=("--dist-timeout", "3")) as two,
        DemoHost(speed=50, start_server=False, nodes=4, node_rank=1, dist_port=two.dist_port) as other,
    ):
        two.head.start_server()
        other.start_server()
        log = await log_with(two.head, FAILED)
        assert "Timed out after 4 seconds waiting for clients. 4/8 clients joined." in log
        await log_with(other, FAILED)
        assert "DistNetworkError: failed to recv, got 0 bytes" in other.log_path.read_text()
        assert failures(two.head) == failures(other) == [("nccl", True)]


async def test_ranks_that_cannot_be_split_are_refused():
    async with DemoCluster(3, speed=50, flags=("--tp", "8")) as cluster:
        for host in cluster.hosts:
            await log_with(host, "AssertionError: tp_size must be divisible by number of nodes")
            (failure,) = events(host, FailureSeen)
            assert (
                failure.title == "The server refuses a setting: tp_size must be divisible by number of nodes"
            )
        assert [await all_gone(host.demo_id) for host in cluster.hosts] == [True] * 3


async def test_nothing_is_left_behind():
    async with DemoCluster(2, speed=20) as cluster:
        await cluster.wait_ready(PATIENCE_S)
        assert all(marked_pids(host.demo_id) for host in cluster.hosts)
    assert [marked_pids(host.demo_id) for host in cluster.hosts] == [[], []]
    assert not any(host.scratch.root.exists() for host in cluster.hosts)


async def test_a_host_that_cannot_be_set_up_takes_the_others_down(monkeypatch):
    cluster = DemoCluster(2, speed=20)
    monkeypatch.setattr(cluster.hosts[1], "_machine", None)
    with pytest.raises(AttributeError):
        await cluster.__aenter__()
    assert marked_pids(cluster.head.demo_id) == []
    assert not cluster.head.scratch.root.exists()


@pytest.mark.parametrize(
    ("profile", "nodes", "each"),
    [("mission", 1, 8), ("mission", 2, 4), ("mission", 3, 3), ("mission", 4, 2), ("h200", 2, 1)],
)
def test_gpus_are_shared_out_and_all_are_used(profile, nodes, each):
    assert on_each_node(PROFILES[profile], nodes).gpu_count == each


def test_a_cluster_of_one_is_refused():
    with pytest.raises(DemoError, match="spans two hosts or more"):
        DemoCluster(1)


async def test_only_the_first_node_says_when_the_server_is_ready():
    with pytest.raises(DemoError, match="node1 answers no clients"):
        await DemoHost(nodes=2, node_rank=1, dist_port=1).wait_ready()
