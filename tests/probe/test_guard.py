"""Whatever fails inside the probe, the worker's results stay right and its methods come back."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import pytest
from support import block_parts
from support.fake_workers import EAGLE_V1, EAGLE_V2, load_worker
from support.probe_bench import ProbeBench, probe_bench

from specttui.events import Clock
from specttui.probe import control_content

#: Parts that take the probe out or report it: if they are broken, that cannot be complete.
REPORTING = {
    "_SpecttuiProbe.fail",
    "_SpecttuiHooks.restore_all",
    "_SpecttuiHook.restore",
    "_SpecttuiWriter.write_surely",
    "_SpecttuiWriter.pay",
    "_SpecttuiWriter._send",
    "_specttui_output",
    "_specttui_head",
    "_specttui_line",
}
RESTORING = {"_SpecttuiProbe.fail", "_SpecttuiHooks.restore_all", "_SpecttuiHook.restore"}
WORKERS = {"EAGLEWorker": EAGLE_V1, "EAGLEWorkerV2": EAGLE_V2}


def names() -> list[str]:
    """Every internal function of the block."""
    with tempfile.TemporaryDirectory() as folder, probe_bench(EAGLE_V1, "EAGLEWorker", Path(folder)) as bench:
        return sorted(block_parts.parts(bench.probe))


def scenario(bench: ProbeBench, control: Path) -> list[Any]:
    """A bit of everything the probe does; returns what the worker returned."""
    results = [bench.prefill()]
    for index in range(30):
        if index == 10:
            control.write_text(control_content(Clock.WALL))
            bench.machine.cpu(600)
        results.append(bench.decode(1, 2, 1, gap_ms=8.0))
        if hasattr(bench.loaded.worker, "on_verify_complete_cpu"):
            bench.loaded.worker.on_verify_complete_cpu([2, 1])
    results.append(bench.prefill())
    return [{name: str(value)[:40] for name, value in vars(result).items()} for result in results]


@functools.cache
def expected(class_name: str) -> str:
    """What the worker returns without the probe."""
    loaded = load_worker(WORKERS[class_name], class_name, lambda _: None)
    with (
        tempfile.TemporaryDirectory() as folder,
        probe_bench(WORKERS[class_name], class_name, Path(folder)) as bench,
    ):
        bench.loaded = loaded
        return without_addresses(scenario(bench, Path(folder) / "control"))


def without_addresses(results: list[Any]) -> str:
    """Results as comparable text."""
    return repr([{key: value.split(" object at")[0] for key, value in one.items()} for one in results])


def originals_are_back(bench: ProbeBench, class_name: str) -> bool:
    """Whether no wrapper of ours is left."""
    worker = bench.loaded.worker
    holders = [
        worker,
        bench.loaded.target,
        bench.loaded.target.allocator,
        getattr(worker, "draft_worker", worker),
    ]
    attributes = [
        name for holder in holders for name in vars(holder) if hasattr(vars(holder)[name], "__wrapped__")
    ]
    method = bench.loaded.namespace[class_name].forward_batch_generation
    return attributes == [] and not hasattr(method, "__wrapped__")


@pytest.mark.parametrize("part", names())
@pytest.mark.parametrize(
    ("class_name", "when"),
    [("EAGLEWorker", "from the start"), ("EAGLEWorker", "later"), ("EAGLEWorkerV2", "later")],
)
def test_one_part_fails(
    part: str, class_name: str, when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = tmp_path / "control"
    monkeypatch.setenv("SPECTTUI_PROBE_CONTROL", str(control))  # so that one patched text serves all tests
    with probe_bench(WORKERS[class_name], class_name, tmp_path) as bench:
        calls = []

        def fail(*_: Any, **__: Any) -> None:
            calls.append(part)
            block_parts.broken()

        if when == "later":
            bench.decode(3, 2, 1)
        block_parts.parts(bench.probe)[part](fail)
        assert without_addresses(scenario(bench, control)) == expected(class_name)
        if calls and part not in REPORTING:
            assert bench.probe.dead
            [error] = bench.events("probe_error")
            assert "broken on purpose" in error.message
            assert "broken, line" in error.where
        if calls and part not in RESTORING:
            assert originals_are_back(bench, class_name) == bench.probe.dead


@pytest.mark.parametrize(
    "part",
    [
        "_SpecttuiAcceptance.copied",
        "_SpecttuiAcceptance.read_copy",
        "_SpecttuiAcceptance.forget",
        "_specttui_bind_copy",
    ],
)
def test_parts_for_copied_results_fail(part: str, tmp_path: Path) -> None:
    source = EAGLE_V2.replace("on_verify_complete_cpu", "_no_callback")
    with probe_bench(source, "EAGLEWorkerV2", tmp_path) as bench:
        calls = []

        def fail(*_: Any, **__: Any) -> None:
            calls.append(part)
            block_parts.broken()

        block_parts.parts(bench.probe)[part](fail)
        for _ in range(10):
            result = bench.decode(1, 2, 1, gap_ms=8.0)
            if part != "_SpecttuiAcceptance.forget":
                result.copy_to_cpu()
                assert result.copied
            assert result.token == "drafted"
        assert calls
        assert bench.probe.dead
        assert not hasattr(type(result).copy_to_cpu, "__wrapped__")
        assert originals_are_back(bench, "EAGLEWorkerV2")


def test_the_scenario_runs_most_parts() -> None:
    """Guards the test above: a part that is never called proves nothing."""
    called = set()
    for class_name, source in WORKERS.items():
        with tempfile.TemporaryDirectory() as folder:
            control = Path(folder) / "control"
            with probe_bench(source, class_name, Path(folder), control_path=str(control)) as bench:
                for name, put in block_parts.parts(bench.probe).items():
                    watch(bench, name, put, called)
                scenario(bench, control)
    assert called >= MUST_RUN
    assert len(called) >= 60


#: What a decode cycle, a prefill, a switch of clocks and a line of figures cannot do without.
MUST_RUN = {
    "_SpecttuiProbe.begin", "_SpecttuiProbe.end", "_SpecttuiProbe.settle", "_SpecttuiProbe.follow",
    "_SpecttuiBinding.bind", "_SpecttuiBinding.hook", "_SpecttuiHook.__init__", "_SpecttuiRole.enter",
    "_SpecttuiVerifyRole.leave", "_SpecttuiTargetRole.leave", "_SpecttuiExtendRole.enter",
    "_SpecttuiEventClock.begin", "_SpecttuiCycle.settle", "_SpecttuiWallClock.finish",
    "_SpecttuiAcceptance.complete", "_SpecttuiAcceptance.in_verify", "_SpecttuiAcceptance.expect",
    "_SpecttuiFigures._write_cycles", "_SpecttuiFigures._write_prefills", "_SpecttuiControl.read",
    "_SpecttuiWriter._send", "_specttui_rank", "_specttui_histogram",
}  # fmt: skip


def watch(bench: ProbeBench, name: str, put: Any, called: set[str]) -> None:
    """Note that a part is called, and let it do its work."""
    original = part_of(bench, name)

    @functools.wraps(original)
    def noted(*args: Any, **kwargs: Any) -> Any:
        called.add(name)
        return original(*args, **kwargs)

    put(noted)


def part_of(bench: ProbeBench, name: str) -> Any:
    """The function behind a part's name."""
    if "." in name:
        owner, method = name.split(".")
        cls = next(cls for cls in block_parts._classes(bench.probe) if cls.__name__ == owner)
        return vars(cls)[method]
    return block_parts._cells(bench.probe)[name].cell_contents


def test_worker_errors_pass_through_and_the_probe_goes_on(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(2, 2)
        worker, original = bench.loaded.worker, bench.loaded.namespace["work"]

        def out_of_memory(name: str) -> None:
            if name == "accept":
                raise MemoryError("CUDA out of memory")
            original(name)

        bench.loaded.namespace["work"] = out_of_memory
        with pytest.raises(MemoryError, match="CUDA out of memory"):
            bench.decode(1, 2)
        bench.loaded.namespace["work"] = original
        bench.decode(3, 2)
        bench.flush()
        assert not bench.probe.dead
        assert worker is bench.probe.worker
        assert sum(len(line.batch) for line in bench.events("probe_cycles")) == 5


def test_a_class_that_is_gone_is_said_and_changes_nothing(tmp_path: Path) -> None:
    source = EAGLE_V1 + "\nLater = EAGLEWorker\ndel EAGLEWorker\n"
    with probe_bench(source, "Later", tmp_path) as bench:
        [error] = bench.events("probe_error")
        assert error.message == "KeyError: 'EAGLEWorker'"
        assert bench.decode(1, 2).token == "drafted"


def test_tracebacks_show_whose_frames_they_are(tmp_path: Path) -> None:
    with probe_bench(EAGLE_V1, "EAGLEWorker", tmp_path) as bench:
        bench.decode(1, 2)
        bench.loaded.namespace["work"] = None
        with pytest.raises(TypeError) as caught:
            bench.decode(1, 2)
        ours = [entry.name for entry in caught.traceback if "specttui" in entry.name]
        assert ours == ["_specttui_cycle", "_specttui_phase"]
