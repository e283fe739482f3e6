"""A start that fails says why: cause, rank, the lines that tell it, and what to do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
from support.demo_sessions import connected
from support.waiting import eventually

from specttui.demo.host import DemoHost
from specttui.errors import ServerStartError
from specttui.events import Diagnosis, ServerFailed
from specttui.launch.edits import Edit, SetEnv, SetFlag
from specttui.log.remedies import PROBE_REMEDY, REMEDIES
from specttui.session.session import Session


@pytest.fixture
async def demo() -> AsyncIterator[DemoHost]:
    async with DemoHost(speed=20, steps=3) as host:
        await host.wait_ready()
        yield host


async def failed(session: Session, edits: Sequence[Edit]) -> Diagnosis:
    """The diagnosis of a restart that must fail, as the state has it."""
    with pytest.raises(ServerStartError) as caught:
        await session.restart(edits)
    diagnosis = session.state.failure
    assert diagnosis is not None
    assert (caught.value.title, caught.value.remedy) == (diagnosis.title, diagnosis.remedy)
    assert caught.value.cause.splitlines() == [
        line for text in diagnosis.cause_lines for line in text.splitlines()
    ]
    snapshot = session.snapshot()
    assert (snapshot.server_phase, snapshot.server_detail) == ("failed", diagnosis.title)
    return diagnosis


@pytest.mark.long
async def test_every_failure_that_loading_can_meet(demo: DemoHost) -> None:
    async with connected(demo) as (session, events):
        flag = await failed(session, [SetFlag("--speculative-num-stepz", "3")])
        assert (flag.category, flag.rank, flag.in_probe) == ("bad_flag", "", False)
        assert "--speculative-num-stepz" in flag.title
        assert flag.remedy == f"Did you mean --speculative-num-steps? {REMEDIES['bad_flag']}"

        await session.restart_last_good()
        path = await failed(session, [SetFlag("--speculative-draft-model-path", "/no/where")])
        assert (path.category, path.title) == (
            "bad_model_path",
            "The model path /no/where does not exist on the host",
        )
        assert any("Repo id must be in the form" in line for line in path.cause_lines)

        await session.restart_last_good()
        memory = await failed(session, [SetFlag("--mem-fraction-static", "0.99")])
        assert (memory.category, memory.rank) == ("oom_draft", "TP0")
        assert memory.title == "The draft model does not fit into GPU memory"
        assert any(
            line.startswith("torch.OutOfMemoryError: CUDA out of memory.") for line in memory.cause_lines
        )
        assert memory.remedy == REMEDIES["oom_draft"]

        await session.restart_last_good()
        little = await failed(session, [SetFlag("--mem-fraction-static", "0.05")])
        assert (little.category, little.rank, little.remedy) == (
            "not_enough_memory", "TP0", REMEDIES["not_enough_memory"],
        )  # fmt: skip

        await session.restart_last_good()
        nccl = await failed(session, [SetEnv("NCCL_PROTO", "allreduce:LL")])
        assert (nccl.category, nccl.rank, nccl.remedy) == ("nccl", "TP0", REMEDIES["nccl"])
        assert any("Invalid value for NCCL_PROTO: allreduce:LL" in line for line in nccl.cause_lines)
    assert sum(isinstance(event, ServerFailed) for event in events) == 5


async def test_a_port_that_somebody_else_holds(demo: DemoHost) -> None:
    async with DemoHost(speed=20, steps=3) as other:
        await other.wait_ready()
        async with connected(demo) as (session, _):
            taken = await failed(session, [SetFlag("--port", str(other.server_port))])
    assert taken.category == "port_in_use"
    assert str(other.server_port) in taken.title


async def test_our_own_probe_is_named_when_it_raises(demo: DemoHost) -> None:
    async with connected(demo) as (session, _):
        with demo.worker_path.open("a") as file:
            file.write("\n\ndef _specttui_block():\n    raise RuntimeError('wrong')\n\n\n_specttui_block()\n")
        ours = await failed(session, [])
    assert (ours.in_probe, ours.title) == (
        True,
        "specttui's probe raised: The scheduler raised RuntimeError: wrong",
    )
    assert ours.remedy == PROBE_REMEDY
    assert any("_specttui_block" in line for line in ours.cause_lines)


async def test_a_scheduler_that_is_killed_while_serving(demo: DemoHost) -> None:
    async with connected(demo) as (session, _):
        server = session.state.server
        assert server is not None
        pids = ",".join(map(str, server.child_pids))
        result = await session.head.link.run(["ps", "-o", "pid=,args=", "-p", pids])
        scheduler = next(line.split()[0] for line in result.text.splitlines() if "scheduler_TP0" in line)
        await session.head.link.run(["kill", "-9", scheduler], check=True)
        await eventually(lambda: session.state.failure is not None)
        diagnosis = session.state.failure
        assert diagnosis is not None
        assert (diagnosis.category, diagnosis.remedy) == (
            "subprocess_crashed",
            REMEDIES["subprocess_crashed"],
        )
        assert diagnosis.title.endswith("died with exit code -9")
        assert session.snapshot().runs[-1].ended_s is not None
