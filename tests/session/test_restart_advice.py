"""What a session knows of earlier starts: what hung, what did not fit, who manages the server."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.launches import launch
from support.local_remote import LocalRemote

from specttui.errors import LaunchError, ServerStartError
from specttui.events import FailureSeen, Manager, ManagerKind
from specttui.host.found import Problem
from specttui.host.managers import NO_COMMANDS, ManagerCommands
from specttui.host.managers.choose import Ways
from specttui.host.managers.way import WayOptions
from specttui.host.readiness import StartFailedError
from specttui.launch.edits import Edit, LaunchDiff, SetEnv, SetFlag
from specttui.session.diagnosing import diagnose_start
from specttui.session.launches import Launches
from specttui.session.restart_advice import RestartAdvice

PYTHON = "python3 -m sglang.launch_server --model-path /m --tp 8 --disable-custom-all-reduce"
EAGLE = "--speculative-algorithm EAGLE --speculative-draft-model-path /d"
HINT = "set SGLANG_ENABLE_SPEC_V2=1: without it this release may load the model twice"


class Desk:
    """A session's launches, met at one launch, and the advice on them."""

    def __init__(
        self,
        folder: Path,
        command: str = f"{PYTHON} {EAGLE}",
        version: str = "0.5.9",
        commands: ManagerCommands = NO_COMMANDS,
    ) -> None:
        self.launches = Launches()
        self.launches.found(launch(command), None, version)
        self.remote = LocalRemote(folder)
        self.obstacles: tuple[Problem, ...] = ()
        ways = Ways(self.remote, commands, WayOptions())
        self.advice = RestartAdvice(self.remote, self.launches, ways, lambda: self.obstacles)

    def diff(self, *edits: Edit) -> LaunchDiff:
        return self.launches.edited(edits)

    def advised(self, *edits: Edit, manager: Manager | None = None) -> LaunchDiff:
        return self.advice.of(self.diff(*edits), manager or Manager())

    def fail(self, category: str, *edits: Edit) -> None:
        """Start with these edits, which fails."""
        tried = self.launches.result_of(edits)
        self.launches.started(tried)
        self.advice.failed(tried, category)
        assert self.launches.last_good is not None
        self.launches.serves(self.launches.last_good)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_c09_nccl_settings_are_blamed_where_they_differ_from_the_last_good_ones(desk: Desk) -> None:
    p2p = SetEnv("NCCL_P2P_LEVEL", "SYS")
    desk.fail("hung", p2p, SetFlag("--page-size", "16"))
    told = "Still hung last time: NCCL_P2P_LEVEL=SYS --disable-custom-all-reduce"
    assert desk.advised(p2p).warnings[0] == told
    assert desk.advised(SetFlag("--page-size", "16")).warnings == ()
    assert desk.advised(SetEnv("NCCL_P2P_LEVEL", "PHB")).warnings == ()
    with pytest.raises(LaunchError, match="hung when it was started last time") as refused:
        await desk.advice.check(desk.diff(p2p), retry_hung=False)
    assert refused.value.cause == told
    await desk.advice.check(desk.diff(p2p), retry_hung=True)


def test_else_the_launch_to_the_letter_is(desk: Desk) -> None:
    desk.fail("hung", SetFlag("--page-size", "16"))
    assert desk.advised(SetFlag("--page-size", "16")).warnings == (
        "Still hung last time: exactly this launch",
    )
    assert desk.advised(SetFlag("--page-size", "32")).warnings == ()
    assert desk.advised().warnings == ()


def test_other_failures_are_not_held_against_a_combination(desk: Desk) -> None:
    desk.fail("oom", SetEnv("NCCL_P2P_LEVEL", "SYS"))
    assert desk.advised(SetEnv("NCCL_P2P_LEVEL", "SYS")).warnings == ()


def test_b15_the_switch_is_named_once_the_draft_did_not_fit(desk: Desk) -> None:
    assert desk.advised().warnings == ()
    desk.fail("oom_draft")
    assert desk.advised().warnings == (f"Memory ran out while the draft model loaded: {HINT}",)
    assert desk.advised(SetEnv("SGLANG_ENABLE_SPEC_V2", "1")).warnings == ()


@pytest.mark.parametrize(
    ("version", "remedy"), [("0.5.9", f"Take less. Or {HINT}."), ("0.5.12", "Take less.")]
)
def test_b15_the_failure_names_it_too(version: str, remedy: str) -> None:
    seen = FailureSeen(category="oom_draft", title="The draft does not fit", remedy="Take less.")
    found = diagnose_start(ServerStartError("x"), [seen], launch(PYTHON), version)
    assert (found.category, found.remedy) == ("oom_draft", remedy)


def test_a_start_is_diagnosed_by_its_log_else_by_what_waiting_met() -> None:
    error = StartFailedError("It ended", category="exited", cause="c", last_lines=("a", "b"))
    assert diagnose_start(error, [], None, "").cause_lines == ("a", "b")
    assert diagnose_start(error, [], None, "").category == "exited"
    before = ServerStartError("The unit did not start", cause="one\ntwo", remedy="Look.")
    found = diagnose_start(before, [], None, "")
    assert (found.category, found.title, found.cause_lines, found.remedy) == (
        "not_started", "The unit did not start", ("one", "two"), "Look.",
    )  # fmt: skip
    log = FailureSeen(category="nccl", title="NCCL failed", rank="TP1")
    assert diagnose_start(error, [log], None, "").title == "NCCL failed"


def test_who_manages_the_server_is_said_beforehand(desk: Desk) -> None:
    pane = desk.advised(manager=Manager(kind=ManagerKind.TMUX, name="%3"))
    assert pane.notes[-1].startswith("The server in tmux pane %3 ends")
    assert pane.errors == ()
    job = desk.advised(manager=Manager(kind=ManagerKind.SLURM, name="4711"))
    assert [error.split(". ")[0] for error in job.errors] == ["The server is run by slurm"]


async def test_a_server_that_is_not_known_whole_is_not_restarted(desk: Desk) -> None:
    desk.obstacles = (Problem("Its environment is hidden.", "Look again."), Problem("It is odd.", "By hand."))
    assert desk.advised().errors == ("Its environment is hidden. Look again.", "It is odd. By hand.")
    with pytest.raises(LaunchError) as refused:
        await desk.advice.check(desk.diff(), retry_hung=True)
    assert refused.value.title == "This server cannot be restarted from here"
    assert refused.value.cause == "Its environment is hidden.\nIt is odd."
    assert refused.value.remedy == (
        "Look again. Or give the host's profile its own stop and start commands (docs/restarting.md)."
    )
    assert desk.remote.commands == []


@pytest.mark.parametrize(
    ("commands", "errors"),
    [(ManagerCommands(start=("/opt/start",)), ()), (ManagerCommands(stop=("/opt/stop",)), ("Hidden.",))],
)
async def test_a_start_command_of_the_profile_needs_to_know_nothing(
    tmp_path: Path, commands: ManagerCommands, errors: tuple[str, ...]
) -> None:
    desk = Desk(tmp_path, commands=commands)
    desk.obstacles = (Problem("Hidden."),)
    assert desk.advised().errors == errors


async def test_c08_only_files_that_are_newly_named_are_looked_at(desk: Desk, tmp_path: Path) -> None:
    graph = tmp_path / "graph.xml"
    graph.write_text("<graphs/>")
    await desk.advice.check(desk.diff(SetEnv("NCCL_GRAPH_FILE", str(graph))), retry_hung=False)
    assert len(desk.remote.commands) == 1
    with pytest.raises(LaunchError) as refused:
        await desk.advice.check(
            desk.diff(SetEnv("NCCL_GRAPH_FILE", str(graph)), SetEnv("NCCL_TOPO_FILE", "/no 'such'\nfile")),
            retry_hung=False,
        )
    assert refused.value.cause == "NCCL_TOPO_FILE=/no 'such'\nfile"
    await desk.advice.check(desk.diff(SetFlag("--page-size", "1")), retry_hung=False)
    assert len(desk.remote.commands) == 2
