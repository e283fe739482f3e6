"""Reports on a server that spans two hosts, named in the other order than their ranks."""

from __future__ import annotations

import json

import pytest
from support import two_host_session as session
from support.two_host_session import HEAD, ORIGINAL, PATCHED, PATH, SESSION, WORKER

from specttui import events as ev
from specttui.report import collect, markdown, to_csv, to_json, to_trace
from specttui.state.snapshot import Snapshot


def rows(text, heading):
    """The cells of a section's first table, without its head."""
    section = text.split(f"## {heading}\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def test_what_the_head_said_before_the_ranks_were_known_is_the_servers():
    facts = session.report(session.found())
    assert facts.server is not None
    assert (facts.server.pid, facts.server.node_rank) == (4000, 0)
    assert facts.found_launch == session.launch(0)
    assert facts.arguments == {"tp_size": "16", "node_rank": "0"}
    assert facts.adjustments == ()
    assert [(node.name, node.rank) for node in facts.nodes] == [(HEAD, 0), (WORKER, 1)]


def test_until_the_ranks_are_known_the_first_named_host_speaks():
    facts = session.report(session.found()[:-1])
    assert facts.server is not None
    assert facts.server.node_rank == 1
    assert [(node.name, node.rank) for node in facts.nodes] == [(WORKER, None), (HEAD, None)]


def test_nodes_are_told_with_their_file_gpus_slowest_rank_and_losses():
    first, second = session.report().nodes
    assert (first.worker_state, first.worker_sha256, first.worker_path) == (
        ev.FileState.ORIGINAL,
        ORIGINAL,
        PATH,
    )
    assert (len(first.gpus), len(second.gpus)) == (8, 8)
    assert (first.slowest_rank, first.slowest_cycle_ms) == ("TP0", 19.5)
    assert (second.slowest_rank, second.slowest_cycle_ms) == ("TP8", 19.9)
    assert (first.connection_losses, second.connection_losses, session.report().connection_losses) == (
        1,
        2,
        3,
    )


def test_the_slowest_rank_is_that_of_the_last_server_that_was_timed():
    def gather(*events):
        told = [(SESSION, session.found()[0][1]), *((WORKER, event) for event in events)]
        facts = collect(session.envelopes(told), Snapshot())
        return [(node.slowest_rank, node.slowest_cycle_ms) for node in facts.nodes if node.name == WORKER]

    starting = ev.ServerStarting(pid=1, launch=session.launch(1))
    slow = session.cycles("TP8", 40.0, 1.0)
    summary = ev.ProbeSummary(rank="TP9", clock=ev.Clock.EVENTS, median_cycle_ms=21.0)
    unknown = ev.ProbeSummary(rank="TP9", clock=ev.Clock.EVENTS)
    assert gather() == [("", None)]
    assert gather(slow, summary) == [("TP8", 40.0)]
    assert gather(slow, starting, unknown) == [("TP8", 40.0)]
    assert gather(slow, starting, summary, session.cycles("TP8", 20.0, 2.0)) == [("TP9", 21.0)]


def test_each_nodes_start_is_one_start_of_the_server():
    facts = session.report()
    assert [(start.label, start.outcome, start.seconds, start.reason) for start in facts.start_ups] == [
        ("steps 2", "ready", 43.5, ""),
        ("steps 9", "failed", 5.0, "gpu-b: Out of GPU memory"),
    ]
    assert facts.start_ups[0].phases == (("weights", 4.0),)


def test_a_start_that_failed_on_the_head_names_it_too():
    oom = ev.ServerFailed(diagnosis=ev.Diagnosis(category="oom", title="Out of GPU memory"))
    facts = session.report([*session.found(), *session.restarted()[:8], (HEAD, oom)])
    assert [start.reason for start in facts.start_ups] == ["gpu-a: Out of GPU memory"]
    assert facts.timeline[-1].text == "Server failed: Out of GPU memory"
    assert facts.timeline[-1].node == HEAD


def test_runs_loads_and_launches_are_the_heads():
    facts = session.report()
    assert [run.label for run in facts.snapshot.runs] == ["steps 5", "steps 2"]
    assert [(load.run_id, load.started.load_id) for load in facts.loads] == [(2, 1)]
    assert (facts.found_launch, facts.last_launch) == (session.launch(0), session.launch(0, 2))
    assert (facts.clocks, facts.probe_way, facts.phases_missing) == (
        (ev.Clock.EVENTS,),
        "file",
        {"accept": "not a call of its own"},
    )


def test_each_host_has_its_own_worker_file():
    facts = session.report()
    assert [(worker.node, worker.path) for worker in facts.workers] == [(HEAD, PATH), (WORKER, PATH)]
    for worker in facts.workers:
        assert [step.sha256 for step in worker.steps] == [ORIGINAL, PATCHED, ORIGINAL]
        assert worker.local_backup_path == f"backups/{worker.node}/eagle_worker.py"


def test_equal_alerts_of_two_hosts_are_two():
    assert [(alert.node, alert.message, alert.count) for alert in session.report().alerts] == [
        (WORKER, "disk full", 2),
        (HEAD, "disk full", 1),
    ]


def test_the_timeline_names_hosts_where_they_speak_for_themselves_and_takes_the_heads_word_else():
    told = [(entry.node, entry.text) for entry in session.report().timeline]
    worker_file = f"Worker file patched: {PATH}"
    assert told[:9] == [
        ("", "Session on gpu-b gpu-a started"),
        (WORKER, "Connected"),
        (HEAD, "Connected"),
        ("", "Command connect finished"),
        ("", "Found a server: /models/target (pid 4000)"),
        ("", "Run 1 began: steps 5"),
        ("", "Nodes by rank: gpu-a, gpu-b"),
        (HEAD, worker_file),
        (WORKER, worker_file),
    ]
    texts = [text for _, text in told]
    for once in ("Server stopped", "Server ready after 43.5 s", "Probe in EAGLEWorker, clock events"):
        assert texts.count(once) == 1
    assert (WORKER, "Server failed: Out of GPU memory") in told
    assert ("", "Server failed: gpu-b: Out of GPU memory") in told
    assert (HEAD, "Server exited: the start was cancelled") in told


def test_what_repeats_on_one_host_is_counted_though_the_other_speaks_in_between():
    warnings = [entry for entry in session.report().timeline if entry.text == "Warning: disk full"]
    assert [(entry.node, entry.count, entry.last_offset_s) for entry in warnings] == [
        (WORKER, 2, 41.0),
        (HEAD, 1, 40.0),
    ]


def test_markdown_has_a_table_of_the_nodes():
    text = markdown(session.report())
    assert text.startswith("# Speculative decoding on gpu-a, gpu-b\n")
    assert rows(text, "Nodes") == [
        ["0", HEAD, "original", f"`{ORIGINAL}`", "8 x NVIDIA X, 96 GiB", "19.50 (TP0)", "1"],
        ["1", WORKER, "original", f"`{ORIGINAL}`", "8 x NVIDIA X, 96 GiB", "**19.90 (TP8), slowest**", "2"],
    ]
    environment = dict(row for row in rows(text, "Environment"))
    assert environment["hosts"] == "gpu-a, gpu-b"
    assert environment["parallelism"] == "TP 16, DP 1, PP 1 on 2 hosts"
    assert environment["GPUs"] == "16 x NVIDIA X, 96 GiB"
    assert environment["connection losses"] == "3 (gpu-a 1, gpu-b 2); figures may have gaps"


def test_markdown_names_the_node_of_alerts_failures_and_files():
    text = markdown(session.report())
    assert f"The worker file `{PATH}` on gpu-a, gpu-b was patched and restored: it is byte" in text
    assert "### gpu-a\n\nThe worker file" in text
    assert "### gpu-b\n\nThe worker file" in text
    assert "warning: gpu-b: disk full. Came 2 times. What to do: Make room." in text
    assert "| gpu-b: Connection lost: keepalive timed out |" in text
    assert "| failed: gpu-b: Out of GPU memory |" in text


def test_hosts_whose_files_differ_are_told_apart_in_the_summary():
    text = markdown(session.report(session.found(), session.restarted(), session.troubled()[:-2]))
    assert f"- **The worker file `{PATH}` on gpu-a still holds the probe.**" in text
    assert f"- The worker file `{PATH}` on gpu-b was patched and restored" in text


def test_a_nodes_name_is_escaped():
    started = ev.SessionStarted(session_id="s", target="x", specttui_version="1", nodes=("*a*", "b|c"))
    alert = ev.Alert(severity=ev.Severity.INFO, message="hm")
    text = markdown(collect(session.envelopes([("x", started), ("b|c", alert)]), Snapshot()))
    assert "# Speculative decoding on \\*a\\*, b\\|c\n" in text
    assert [row[:2] for row in rows(text, "Nodes")[:1]] == [["-", "\\*a\\*"]]
    assert "info: b\\|c: hm." in text


def test_json_lists_the_nodes_and_names_them_elsewhere():
    document = json.loads(to_json(session.report()))
    assert [(node["name"], node["rank"], node["worker_state"], node["slowest_rank"], node["slowest_cycle_ms"])
            for node in document["nodes"]] == [
        (HEAD, 0, "original", "TP0", 19.5), (WORKER, 1, "original", "TP8", 19.9),
    ]  # fmt: skip
    assert [worker["node"] for worker in document["worker_files"]] == [HEAD, WORKER]
    assert [alert["node"] for alert in document["alerts"]] == [WORKER, HEAD]
    assert len(document["server_starts"]) == 2


def test_csv_has_the_heads_runs():
    assert [line.split(",")[:2] for line in to_csv(session.report()).splitlines()[1:]] == [
        ["1", "steps 5"],
        ["2", "steps 2"],
    ]


def test_the_trace_has_the_ranks_of_every_node_and_the_heads_marks():
    events = json.loads(to_trace(session.envelopes()))["traceEvents"]
    processes = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    marks = [event["name"] for event in events if event["ph"] == "i"]
    assert processes == {1: "session", 2: "gpu-a TP0", 3: "gpu-b TP8"}
    assert [event["pid"] for event in events if event["name"] == "cycle" and event["ph"] == "X"] == [
        2, 2, 3, 3,
    ]  # fmt: skip
    assert [mark for mark in marks if mark.startswith("Server ready")] == ["Server ready after 43.5 s"]
    assert len([mark for mark in marks if mark.startswith("Run")]) == 4


@pytest.mark.parametrize("nodes", [(), ("gpu-a",)])
def test_a_single_host_is_told_without_its_name(nodes):
    started = ev.SessionStarted(session_id="s", target="gpu-a", specttui_version="1", nodes=nodes)
    alert = ev.Alert(severity=ev.Severity.INFO, message="hm")
    facts = collect(session.envelopes([("gpu-a", started), ("gpu-a", alert)]), Snapshot())
    assert (facts.nodes, facts.alerts[0].node, facts.timeline[-1].node) == ((), "", "")
    assert "## Nodes" not in markdown(facts)
