"""Several hosts, one stream: who holds which state, and what the screen makes of it."""

from __future__ import annotations

from support.envelopes import START_AT, cycles, decode, run_started

from specttui import events as ev
from specttui.state.build import SnapshotBuilder
from specttui.state.node_states import NodeStates
from specttui.state.node_view import snapshot_of
from specttui.state.snapshot import Snapshot

SESSION = "b a"


class Stream:
    """Two hosts, named in the other order than their ranks."""

    def __init__(self) -> None:
        self.states = NodeStates()
        self.now_s = 0.0
        self.tell(
            SESSION,
            ev.SessionStarted(session_id="s", target=SESSION, specttui_version="1", nodes=("b", "a")),
        )

    def tell(self, host: str, *events: ev.AnyEvent) -> None:
        for event in events:
            self.now_s += 0.1
            self.states.apply(
                ev.Envelope(at=START_AT + self.now_s, offset_s=self.now_s, host=host, event=event)
            )

    def snapshot(self) -> Snapshot:
        return snapshot_of(SnapshotBuilder(), self.states, self.now_s)


def found(rank: int) -> ev.ServerFound:
    launch = ev.Launch(argv=("sglang", "serve", "m", "--nnodes", "2", "--node-rank", str(rank)))
    gpus = tuple(ev.Gpu(index=index) for index in range(4))
    return ev.ServerFound(
        server=ev.ServerInfo(pid=rank + 1, launch=launch, node_rank=rank, node_count=2, gpus=gpus)
    )


def file(state: ev.FileState) -> ev.WorkerFileChecked:
    return ev.WorkerFileChecked(path="/w.py", state=state, sha256="0" * 64, size_bytes=1)


def serving() -> Stream:
    stream = Stream()
    stream.tell("b", ev.ConnectionUp(), found(1))
    stream.tell("a", ev.ConnectionUp(), found(0), run_started(1, "steps 2", 2))
    stream.tell(SESSION, ev.NodesArranged(nodes=("a", "b")))
    return stream


def test_the_first_named_host_is_shown_until_the_ranks_are_known() -> None:
    stream = Stream()
    stream.tell("b", ev.ConnectionUp(), found(1))
    assert stream.states.head is stream.states.of("b")
    assert [(row.name, row.rank, row.connection) for row in stream.snapshot().nodes] == [
        ("b", None, "up"),
        ("a", None, "connecting"),
    ]
    assert stream.snapshot().connection == "connecting"


def test_the_head_is_the_node_of_rank_0() -> None:
    snapshot = serving().snapshot()
    assert snapshot.server is not None
    assert (snapshot.server.pid, snapshot.target, snapshot.session_id) == (1, SESSION, "s")
    assert [(row.name, row.rank) for row in snapshot.nodes] == [("a", 0), ("b", 1)]
    assert [run.label for run in snapshot.runs] == ["steps 2"]
    assert len(snapshot.gpus) == 8


def test_patched_means_patched_everywhere() -> None:
    stream = serving()
    stream.tell("a", file(ev.FileState.PATCHED))
    stream.tell("b", file(ev.FileState.ORIGINAL))
    snapshot = stream.snapshot()
    assert snapshot.worker_file is not None
    assert snapshot.worker_file.state is ev.FileState.ORIGINAL
    stream.tell("b", file(ev.FileState.PATCHED))
    snapshot = stream.snapshot()
    assert snapshot.worker_file is not None
    assert snapshot.worker_file.state is ev.FileState.PATCHED
    assert [row.file_state for row in snapshot.nodes] == [ev.FileState.PATCHED] * 2


def test_what_any_node_measures_is_a_figure_of_the_server() -> None:
    stream = serving()
    stream.tell("a", cycles(40, 20.0, rank="TP0", verify=19.0))
    stream.tell("b", ev.ProbeSummary(rank="TP4", clock=ev.Clock.EVENTS, cycles=40, median_cycle_ms=21.5))
    snapshot = stream.snapshot()
    assert [(row.rank, row.cycle_ms) for row in snapshot.ranks] == [("TP0", 20.0), ("TP4", 21.5)]
    assert [row.slowest_cycle_ms for row in snapshot.nodes] == [20.0, 21.5]
    assert snapshot.cycle is not None
    assert snapshot.cycle.cycle_ms == 20.0


def test_data_parallel_groups_on_other_nodes_count_for_the_server() -> None:
    stream = serving()
    for _ in range(8):
        stream.tell("a", decode(50.0, 2.0, rank="DP0 TP0"))
        stream.tell("b", decode(30.0, 2.0, rank="DP1 TP4"))
    snapshot = stream.snapshot()
    assert snapshot.throughput_now == 80.0
    assert [group.group for group in snapshot.groups] == ["DP0", "DP1"]
    assert stream.states.of("b").last_decode is not None


def test_log_and_alerts_say_which_node_they_are_from() -> None:
    stream = serving()
    stream.tell("a", ev.LogLines(lines=("one", "two"), dropped=3))
    stream.tell("b", ev.LogLines(lines=("three",), dropped=0))
    stream.tell("b", ev.Alert(severity=ev.Severity.WARNING, message="disk full", remedy="make room"))
    snapshot = stream.snapshot()
    assert (snapshot.log_lines, snapshot.log_total) == (("a| one", "a| two", "b| three"), 6)
    assert [(alert.message, alert.remedy) for alert in snapshot.alerts] == [("b: disk full", "make room")]


def test_the_worst_connection_is_shown() -> None:
    stream = serving()
    stream.tell("b", ev.ConnectionDown(reason="broken pipe"))
    snapshot = stream.snapshot()
    assert (snapshot.connection, snapshot.connection_detail) == ("down", "b: broken pipe")
    assert snapshot.nodes[1].detail == "broken pipe"


def test_a_node_serves_when_its_head_does() -> None:
    stream = serving()
    launch = ev.Launch(argv=("sglang", "serve", "m"))
    for host in "ab":
        stream.tell(host, ev.ServerStarting(pid=1, launch=launch, label="steps 3"))
    stream.tell("b", ev.ServerProgress(phase="weights", detail="3/8"))
    assert [(row.server_phase, row.detail) for row in stream.snapshot().nodes] == [
        ("starting", "steps 3"),
        ("starting", "weights 3/8"),
    ]
    stream.tell("a", ev.ServerReady(pid=1))
    assert [row.server_phase for row in stream.snapshot().nodes] == ["serving", "serving"]
    stream.tell("b", ev.ServerExited(pid=2, detail="process 2 ended"))
    assert [row.server_phase for row in stream.snapshot().nodes] == ["serving", "exited"]


def test_commands_and_notes_are_the_sessions() -> None:
    stream = serving()
    stream.tell(SESSION, ev.CommandStarted(command_id=1, name="patch"), ev.NoteAdded(text="hm"))
    snapshot = stream.snapshot()
    assert snapshot.command is not None
    assert (snapshot.command.name, snapshot.notes) == ("patch", ("hm",))


def test_a_single_host_has_one_state_whatever_its_name() -> None:
    states = NodeStates()
    for host, event in (
        ("demo", ev.SessionStarted(session_id="s", target="demo", specttui_version="1")),
        ("demo", ev.LogLines(lines=("one",), dropped=0)),
    ):
        states.apply(ev.Envelope(at=START_AT, offset_s=0.0, host=host, event=event))
    snapshot = snapshot_of(SnapshotBuilder(), states, 0.0)
    assert states.head is states.session
    assert (snapshot.nodes, snapshot.log_lines, snapshot.session_id) == ((), ("one",), "s")
