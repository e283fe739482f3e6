"""The markdown report's parts; its whole is in test_golden.py."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support import example_session
from support.example_session import ORIGINAL, PATCHED, RUNS, SNAPSHOT, WORKER

from specttui import events as ev
from specttui.report import ReportInput, collect, markdown
from specttui.report.facts import Moment, WorkerFact, WorkerStep
from specttui.state.snapshot import Interval, ProbeView, Snapshot, VerdictView

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def headings(text):
    return re.findall(r"^## (.+)$", text, flags=re.MULTILINE)


def with_runs(*runs, **changes):
    return ReportInput(snapshot=replace(SNAPSHOT, runs=runs, **changes), target="h", complete=True)


def worker(*states):
    steps = tuple(WorkerStep(Moment(0.0, 0.0), state, sha256) for state, sha256 in states)
    return replace(with_runs(), workers=(WorkerFact(WORKER, steps, original_sha256=ORIGINAL),))


def test_summary_and_verdict_come_first():
    text = markdown(example_session.report())
    assert headings(text)[:3] == ["Summary", "Environment", "Runs"]
    assert headings(text)[-1] == "Method and caveats"
    assert text.index("**Verdict: pays.**") < text.index("Fastest of 4 runs: run 4 (steps 2, LL)")


def test_an_empty_session_is_a_short_report_without_empty_sections():
    text = markdown(collect([], Snapshot(target="gpu-host")))
    assert headings(text) == ["Summary", "Environment", "Runs", "Method and caveats"]
    assert "No run was measured." in text
    assert "The recording has no end" in text


def test_every_breakdown_adds_up_to_a_hundred():
    text = markdown(example_session.report())
    blocks = re.findall(r"```text\n(.*?)\n```", text, flags=re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        shares = [float(share) for share in re.findall(r" (\d+\.\d) %", block.rpartition("\n")[0])]
        assert round(sum(shares), 6) == 100.0


def test_a_tie_is_called_a_tie():
    tied = replace(RUNS[3], run_id=5, label="steps 3, LL", throughput_tok_s=Interval(93.9, 93.5, 94.3))
    text = markdown(with_runs(*RUNS, tied))
    assert "Tied at the top of 5 runs: run 4 (steps 2, LL), run 5 (steps 3, LL)" in text
    assert "Fastest" not in text


def test_runs_under_different_loads_are_not_ranked():
    text = markdown(with_runs(RUNS[0], replace(RUNS[3], batch=8.0)))
    assert "different batch sizes, so their throughputs are not ranked" in text
    assert "Fastest" not in text


def test_noise_is_called_noise_in_the_table():
    text = markdown(with_runs(RUNS[0], replace(RUNS[3], change_vs_baseline=0.002, significant=False)))
    assert "| +0.2 % (within noise) |" in text


def test_a_file_left_patched_is_shouted_about():
    text = markdown(worker((ev.FileState.ORIGINAL, ORIGINAL), (ev.FileState.PATCHED, PATCHED)))
    assert f"- **The worker file `{WORKER}` still holds the probe.**" in text


def test_the_original_is_claimed_only_when_the_hashes_are_equal():
    restored = worker((ev.FileState.PATCHED, PATCHED), (ev.FileState.ORIGINAL, ORIGINAL))
    other = worker((ev.FileState.PATCHED, PATCHED), (ev.FileState.FOREIGN, "c" * 64))
    untouched = worker((ev.FileState.ORIGINAL, ORIGINAL))
    assert "patched and restored: it is byte for byte the original." in markdown(restored)
    assert "byte for byte" not in markdown(other)
    assert "was last seen foreign; it is not proved to be the original." in markdown(other)
    assert f"The worker file `{WORKER}` was not changed." in markdown(untouched)


def test_a_demo_says_that_its_figures_are_simulated():
    text = markdown(replace(example_session.report(), mode="demo"))
    assert "**This is the demo host: its server and all figures are simulated.**" in text


def test_server_and_client_rates_are_never_in_one_table():
    text = markdown(example_session.report())
    heads = [line for line in text.splitlines() if "tok/s" in line and line.startswith("| ")]
    assert [("server tok/s" in head, "client tok/s (wall clock)" in head) for head in heads] == [
        (True, False),
        (False, True),
    ]


def test_only_clocks_that_were_used_are_explained_and_sync_is_marked_as_distorted():
    text = markdown(replace(example_session.report(), clocks=(ev.Clock.SYNC,)))
    clocks = text[text.index("### Clocks") : text.index("### Caveats")]
    assert ("`sync`" in clocks, "distorted" in clocks, "`wall`" in clocks) == (True, True, False)


def test_without_a_probe_nothing_is_said_about_its_cost():
    facts = replace(with_runs(RUNS[0], probe=ProbeView("absent")), clocks=())
    text = markdown(facts)
    assert ("Observer effect" in text, "### Clocks" in text, "| probe |" in text) == (False, False, False)


def test_a_command_that_cannot_be_read_is_still_shown():
    odd = replace(RUNS[3], launch=ev.Launch(argv=("sglang", "serve", "unreadable")))
    text = markdown(with_runs(RUNS[2], odd))
    assert re.search(r"^\+ +.*unreadable", text, flags=re.MULTILINE)


def test_runs_without_a_known_launch_say_so():
    text = markdown(with_runs(replace(RUNS[0], launch=None), replace(RUNS[1], changes=())))
    assert "### Run 1 to run 2: baseline to steps 5\n\n- No change of the launch is known." in text


def test_commands_can_be_pasted():
    text = markdown(example_session.report())
    block = re.search(r"### As found\n\n```sh\n(.*?)\n```", text, flags=re.DOTALL)[1]
    assert block.replace(" \\\n", " ").split() == list(example_session.launch(5).argv)


def test_the_same_facts_give_the_same_text():
    assert markdown(example_session.report()) == markdown(example_session.report())


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet="|`*_~<>[]()#-!\\&\n\r\x1b1. a", min_size=1, max_size=20))
def test_hostile_text_anywhere_changes_nothing_of_the_structure(text):
    def structure(value):
        verdict = VerdictView("pays", value, caveats=(value,))
        run = replace(RUNS[3], label=value, changes=(value,), notes=(value,))
        events = [
            ev.SessionStarted(session_id=value, target=value, specttui_version=value),
            ev.ServerFound(server=example_session.SERVER.model_copy(update={"model_path": value})),
            ev.CommandStarted(command_id=1, name=value, detail=value),
            ev.CommandFailed(command_id=1, name=value, title=value, cause=value, remedy=value),
            ev.Alert(severity=ev.Severity.ERROR, message=value, remedy=value),
            ev.NoteAdded(text=value),
            ev.ArgumentAdjusted(text=value),
            ev.ServerArguments(arguments={"model_path": value, f"speculative_{value}": value}),
        ]
        envelopes = [ev.Envelope(at=1.0, offset_s=1.0, event=event) for event in events]
        facts = collect(envelopes, replace(SNAPSHOT, verdict=verdict, runs=(RUNS[2], run)))
        kinds = [token.type for token in PARSER.parse(markdown(facts))]
        inline = [child.type for token in PARSER.parse(markdown(facts)) for child in token.children or ()]
        return kinds, sorted(set(inline) - {"code_inline", "softbreak"})

    kinds, inline = structure("plain")
    assert structure("x" + text)[0] == kinds
    assert set(structure("x" + text)[1]) <= set(inline)
    assert set(inline) == {"text", "strong_open", "strong_close"}
