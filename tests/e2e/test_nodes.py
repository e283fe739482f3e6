"""A server on three hosts, over three SSH connections: patched, restarted, followed and restored as one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.live_demo import PATIENCE_S, Recorder, current_run, decoding, until
from support.prompters import ScriptedPrompter

from specttui.demo.cluster import DemoCluster
from specttui.errors import LaunchError, ServerNotFoundError, ServerStartError, WorkerFileError
from specttui.events import FileState, NodesArranged, RunStarted, ServerStarting
from specttui.host.files import GuardedFile
from specttui.launch.edits import SetEnv, SetFlag
from specttui.session.export import render
from specttui.session.options import SessionOptions
from specttui.session.restoring import restore
from specttui.session.session import Session
from specttui.state.snapshot import Snapshot
from specttui.ui.start import cluster_options

TWO_STEPS = (SetFlag("--speculative-num-steps", "2"), SetFlag("--speculative-num-draft-tokens", "3"))


@pytest.fixture
async def cluster() -> AsyncIterator[DemoCluster]:
    async with DemoCluster(3, profile="h200", speed=20, seed=5) as running:
        await running.wait_ready(PATIENCE_S)
        yield running


@asynccontextmanager
async def session_on(*options: SessionOptions) -> AsyncIterator[Session]:
    session = Session(options[0], ScriptedPrompter(), others=options[1:])
    try:
        yield session
    finally:
        await session.close()


def worker_files(cluster: DemoCluster) -> list[bytes]:
    return [host.worker_path.read_bytes() for host in cluster.hosts]


def commands(session: Session) -> dict[str, tuple[str, ...]]:
    return {node.name: node.launches.current.argv for node in session.nodes if node.launches.current}


def states(snapshot: Snapshot) -> list[FileState | None]:
    return [row.file_state for row in snapshot.nodes]


@pytest.mark.long
async def test_the_afternoon_on_three_hosts(cluster: DemoCluster) -> None:
    """Named in any order; every node patched, restarted with its own rank, timed, and given back."""
    originals = worker_files(cluster)
    first, second, third = cluster_options(cluster)
    async with session_on(third, first, second) as session:
        seen = Recorder(session)
        await session.start()
        assert [event.nodes for event in seen.of(NodesArranged)] == [("node0", "node1", "node2")]
        snapshot = await until(session, decoding)
        assert snapshot.target == "node2 node0 node1"
        assert [(row.name, row.rank, row.server_phase) for row in snapshot.nodes] == [
            ("node0", 0, "serving"), ("node1", 1, "serving"), ("node2", 2, "serving"),
        ]  # fmt: skip
        before = commands(session)

        await session.patch()
        patched = worker_files(cluster)
        assert all(new.startswith(old) and new != old for new, old in zip(patched, originals, strict=True))
        assert states(session.snapshot()) == [FileState.PATCHED] * 3

        await session.restart(TWO_STEPS)
        snapshot = await until(session, lambda now: now.cycle is not None and len(now.ranks) == 3)
        after = commands(session)
        assert [node.watch.place.rank for node in session.nodes] == [0, 1, 2]
        for name, argv in after.items():
            changed = set(argv) ^ set(before[name])
            assert changed <= {"2", "3", "5", "6"}, name
        assert len(seen.of(ServerStarting)) == 3
        assert [run.label for run in seen.of(RunStarted)][-1] == "steps 2"
        run = current_run(snapshot)
        assert run is not None
        assert run.settings.num_steps == 2
        assert [row.probe for row in snapshot.nodes] == ["live"] * 3
        assert all(row.slowest_cycle_ms is not None for row in snapshot.nodes)
        assert {line.partition("|")[0] for line in snapshot.log_lines} == {"node0", "node1", "node2"}

        await session.restore()
        assert worker_files(cluster) == originals
        assert session.changes_on_host == ()
        report = render(session.folder.path)
    assert all(name in report for name in cluster.names)
    backups = {path.parent.name for path in (session.folder.path / "backups").rglob("*") if path.is_file()}
    assert backups == {"0-node2", "1-node0", "2-node1"}


async def test_one_nodes_refusal_takes_the_patch_back_from_all(cluster: DemoCluster) -> None:
    """A session that holds the last node's file is met only when that node's turn comes."""
    originals = worker_files(cluster)
    async with session_on(*cluster_options(cluster)) as session:
        await session.start()
        path = str(cluster.hosts[2].worker_path)
        other = GuardedFile(session.nodes[2].remote, path, "another-session", Path(session.folder.path) / "o")
        await other.back_up(await other.read())
        with pytest.raises(WorkerFileError, match=r"^node2: ") as refused:
            await session.patch()
        assert "still has the change" not in refused.value.cause
        assert worker_files(cluster) == originals
        assert not session.patched
        assert states(session.snapshot()) == [FileState.ORIGINAL] * 3
        await other.release()
        await session.patch()
        assert states(session.snapshot()) == [FileState.PATCHED] * 3
        await session.restore()
    assert worker_files(cluster) == originals


async def test_a_connection_that_breaks_in_the_middle_of_a_patch(cluster: DemoCluster) -> None:
    """Wherever it breaks, afterwards every file is the original, or every one the complete patch."""
    originals = worker_files(cluster)
    async with session_on(*cluster_options(cluster)) as session:
        await session.start()
        patching = asyncio.ensure_future(session.patch())
        await until(session, lambda now: now.nodes[0].file_state is FileState.PATCHED)
        cluster.hosts[1].kill_connections()
        failure = (await asyncio.gather(patching, return_exceptions=True))[0]
        await until(session, lambda now: now.connection == "up")
        whole = [new != old for new, old in zip(worker_files(cluster), originals, strict=True)]
        assert whole == ([False] * 3 if failure is not None else [True] * 3)
        await session.restore()
        assert worker_files(cluster) == originals


@pytest.mark.long
async def test_a_node_that_fails_to_start_is_named_and_the_others_end(cluster: DemoCluster) -> None:
    """The draft model is missing on one host: its failure is the cause, not the peers' lost connections."""
    async with session_on(*cluster_options(cluster)) as session:
        await session.start()
        await until(session, decoding)
        draft = cluster.hosts[1].scratch.draft_path
        away = draft.with_name("moved-away")
        draft.rename(away)
        with pytest.raises(ServerStartError, match=r"^node1: ") as failed:
            await session.restart(TWO_STEPS)
        assert failed.value.cause
        snapshot = session.snapshot()
        assert snapshot.server_phase == "failed"
        assert snapshot.server_detail.startswith("node1: ")
        assert all(node.restarter.running is None for node in session.nodes)
        away.rename(draft)
        assert session.can_roll_back
        await session.restart_last_good()
        await until(session, decoding)
        assert [row.server_phase for row in session.snapshot().nodes] == ["serving"] * 3


async def test_a_node_that_dies_while_it_serves_takes_the_server_with_it(cluster: DemoCluster) -> None:
    """Both are told, the first cause stays on the screen, and one key brings all nodes back."""
    async with session_on(*cluster_options(cluster)) as session:
        await session.start()
        await until(session, decoding)
        assert not session.can_roll_back
        dead = session.nodes[2].emitter.state.server
        assert dead is not None
        os.kill(dead.pid, signal.SIGKILL)
        snapshot = await until(
            session, lambda now: all(row.server_phase in {"failed", "exited"} for row in now.nodes)
        )
        assert any(alert.message.startswith("node2: ") for alert in snapshot.alerts)
        assert snapshot.running is None
        assert session.can_roll_back
        await session.restart_last_good()
        snapshot = await until(session, decoding)
        assert [row.server_phase for row in snapshot.nodes] == ["serving"] * 3


@pytest.mark.long
async def test_a_cancelled_start_ends_on_every_node(cluster: DemoCluster) -> None:
    async with session_on(*cluster_options(cluster)) as session:
        await session.start()
        slow = SetEnv("SPECTTUI_DEMO_SPEED", "0.5")
        restarting = asyncio.ensure_future(session.restart([slow]))
        await until(session, lambda now: all(row.server_phase == "starting" for row in now.nodes))
        await session.cancel()
        assert isinstance((await asyncio.gather(restarting, return_exceptions=True))[0], Exception)
        assert all(node.restarter.running is None for node in session.nodes)
        await session.restart_last_good()
        await until(session, decoding)


async def test_hosts_that_are_not_the_whole_server(cluster: DemoCluster) -> None:
    async with session_on(*cluster_options(cluster)[:2]) as session:
        with pytest.raises(ServerNotFoundError, match="not all the nodes of one server") as told:
            await session.start()
        assert told.value.cause.splitlines()[1].startswith("node1: node 1 of 3, meets at 127.0.0.1:")
        assert told.value.remedy.startswith("Name each of the 3 hosts")


async def test_one_node_alone_is_watched_and_not_restarted(cluster: DemoCluster) -> None:
    async with session_on(cluster_options(cluster)[1]) as session:
        await session.start()
        snapshot = session.snapshot()
        assert (snapshot.server_phase, snapshot.runs) == ("serving", ())
        assert (
            snapshot.throughput_note == "node 1 of 3 answers no clients: the figures are in the log of node 0"
        )
        assert any(alert.message == "This is node 1 of a server on 3 hosts" for alert in snapshot.alerts)
        assert session.preview_restart(TWO_STEPS).errors[0].startswith("The server spans 3 hosts")
        with pytest.raises(LaunchError, match="would break the server"):
            await session.restart(TWO_STEPS)


async def test_the_draft_config_is_edited_on_every_node_or_none(cluster: DemoCluster) -> None:
    paths = [host.scratch.draft_path / "config.json" for host in cluster.hosts]
    originals = [path.read_bytes() for path in paths]
    async with session_on(*cluster_options(cluster)) as session:
        await session.start()
        edited = json.loads((await session.view_draft_config()).text)
        edited["edited"] = True
        await session.edit_draft_config(json.dumps(edited))
        assert [json.loads(path.read_bytes())["edited"] for path in paths] == [True] * 3
        assert len(session.changes_on_host) == 3
        other = GuardedFile(
            session.nodes[2].remote, str(paths[2]), "another-session", session.folder.path / "o"
        )
        await session.nodes[2].draft.close()  # as if this session had been taken for dead
        await other.back_up(await other.read())
        with pytest.raises(WorkerFileError, match=r"^node2: "):
            await session.edit_draft_config(json.dumps({**edited, "edited": "again"}))
        assert [json.loads(path.read_bytes())["edited"] for path in paths] == [True] * 3
        await other.release()
        await session.restore_draft_config()
        assert [path.read_bytes() for path in paths] == originals


async def test_what_a_dead_session_left_is_restored_from_any_machine(cluster: DemoCluster) -> None:
    originals = worker_files(cluster)
    options = cluster_options(cluster)
    async with session_on(*options) as session:
        await session.start()
        await session.patch()
    assert all(new != old for new, old in zip(worker_files(cluster), originals, strict=True))
    for each in options:
        assert "restored, byte for byte" in await restore(each, prompter=ScriptedPrompter())
    assert worker_files(cluster) == originals


async def test_hosts_that_share_an_install_share_its_patch(cluster: DemoCluster) -> None:
    """A file on a network file system is patched once, counts on every host, and is restored once."""
    shared, second, third = (host.worker_path for host in cluster.hosts)
    original = shared.read_bytes()
    second.unlink()
    second.symlink_to(shared)
    async with session_on(*cluster_options(cluster)) as session:
        await session.start()
        await session.patch()
        assert states(session.snapshot()) == [FileState.PATCHED] * 3
        assert shared.read_bytes().count(b"# <<< specttui") == 1
        await session.restore()
        assert states(session.snapshot()) == [FileState.ORIGINAL] * 3
    assert (shared.read_bytes(), third.read_bytes()) == (original, original)
    assert second.is_symlink()
    assert [path.name for path in shared.parent.iterdir() if ".specttui-" in path.name] == []
