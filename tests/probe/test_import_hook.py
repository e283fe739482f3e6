"""The second way in: a folder on PYTHONPATH, tried in real processes."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.fake_workers import EAGLE_V1, EAGLE_V2

from specttui.errors import PatchError
from specttui.events import PROBE_EVENT, PROBE_PREFIX, Clock
from specttui.probe import apply, import_hook_files

#: What SGLang's worker modules import, reduced to what ours need.
HEADER = """\
from support.fake_workers import Lengths, Result


def work(name):
    pass


def synchronize():
    pass


"""
MODULE = "sglang.srt.speculative.eagle_worker"
RUN = """
import sys
sys.path[:0] = {paths!r}
from support.fake_workers import Batch, TargetWorker
from {module} import {name}
worker = {name}(TargetWorker(lambda name: None))
results = [worker.forward_batch_generation(Batch([2, 1])) for _ in range(40)]
print(results[-1].token, "forward_batch_generation" in vars({name}), flush=True)
"""


def package(folder: Path, **modules: str) -> Path:
    """A package shaped like SGLang's, with our worker modules in it."""
    site = folder / "site"
    speculative = site / "sglang" / "srt" / "speculative"
    speculative.mkdir(parents=True)
    for parent in (site / "sglang", site / "sglang" / "srt", speculative):
        (parent / "__init__.py").write_text("")
    for name, source in modules.items():
        (speculative / f"{name}.py").write_text(HEADER + source)
    return site


def write_hook(folder: Path, files: dict[str, str]) -> Path:
    """Put the rendered files where PYTHONPATH will point."""
    hook = folder / "hook"
    hook.mkdir()
    for name, text in files.items():
        (hook / name).write_text(text, encoding="ascii")
    return hook


def run(folder: Path, *python_path: Path, module: str = MODULE, name: str = "EAGLEWorker") -> list[str]:
    """Run 30 cycles of a worker in a new process; returns its output's lines, errors included."""
    script = folder / "run.py"
    script.write_text(RUN.format(paths=[entry for entry in sys.path if entry], module=module, name=name))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, python_path))}
    done = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout.splitlines()


def rendered(source: str = EAGLE_V1, module: str = MODULE) -> dict[str, str]:
    """The folder's files for one worker."""
    return import_hook_files({module: (HEADER + source).encode()}, session_id="s1", utc="u", clock=Clock.WALL)


def test_figures_come_without_a_change_to_any_file(tmp_path: Path) -> None:
    site = package(tmp_path, eagle_worker=EAGLE_V1)
    before = (site / "sglang/srt/speculative/eagle_worker.py").read_bytes()
    lines = run(tmp_path, write_hook(tmp_path, rendered()), site)
    events = [
        PROBE_EVENT.validate_json(line.removeprefix(PROBE_PREFIX))
        for line in lines
        if line.startswith(PROBE_PREFIX)
    ]
    assert [event.kind for event in events] == ["probe_installed", "probe_cycles"]
    assert (events[0].way, events[0].session_id) == ("import_hook", "s1")
    assert set(events[0].hooked) >= {"draft", "verify", "target_forward", "draft_extend", "accept_counts"}
    assert events[1].accepted == [3] * 33
    assert lines[-1] == "drafted True"
    assert (site / "sglang/srt/speculative/eagle_worker.py").read_bytes() == before


def test_other_modules_are_left_alone(tmp_path: Path) -> None:
    site = package(tmp_path, eagle_worker=EAGLE_V1, eagle_worker_v2=EAGLE_V2)
    hook = write_hook(tmp_path, rendered())
    module = "sglang.srt.speculative.eagle_worker_v2"
    assert run(tmp_path, hook, site, module=module, name="EAGLEWorkerV2") == ["drafted True"]


def test_several_workers(tmp_path: Path) -> None:
    site = package(tmp_path, eagle_worker=EAGLE_V1, eagle_worker_v2=EAGLE_V2)
    second = "sglang.srt.speculative.eagle_worker_v2"
    sources = {MODULE: (HEADER + EAGLE_V1).encode(), second: (HEADER + EAGLE_V2).encode()}
    files = import_hook_files(sources, session_id="s1", utc="u", clock=Clock.WALL)
    assert set(files) == {"sitecustomize.py", "specttui_block_0.py", "specttui_block_1.py"}
    hook = write_hook(tmp_path, files)
    for module, name in ((MODULE, "EAGLEWorker"), (second, "EAGLEWorkerV2")):
        lines = run(tmp_path, hook, site, module=module, name=name)
        assert f'"worker_class":"{name}"' in lines[0]


def test_another_sitecustomize_still_runs(tmp_path: Path) -> None:
    site = package(tmp_path, eagle_worker=EAGLE_V1)
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("print('the other one', __name__, __file__[-16:])\n")
    lines = run(tmp_path, write_hook(tmp_path, rendered()), other, site)
    assert lines[0] == "the other one sitecustomize sitecustomize.py"
    assert lines[1].startswith(PROBE_PREFIX)


def test_a_patched_file_is_not_probed_twice(tmp_path: Path) -> None:
    site = package(tmp_path, eagle_worker=EAGLE_V1)
    worker = site / "sglang/srt/speculative/eagle_worker.py"
    worker.write_bytes(apply(worker.read_bytes(), session_id="file", utc="u", clock=Clock.WALL))
    lines = run(tmp_path, write_hook(tmp_path, rendered()), site)
    installed = [line for line in lines if "probe_installed" in line]
    assert len(installed) == 1
    assert '"way":"file"' in installed[0]


def test_a_block_that_is_gone_leaves_the_worker_running(tmp_path: Path) -> None:
    site = package(tmp_path, eagle_worker=EAGLE_V1)
    hook = write_hook(tmp_path, rendered())
    (hook / "specttui_block_0.py").unlink()
    lines = run(tmp_path, hook, site)
    assert lines[0].startswith("specttui: the worker runs without the probe: FileNotFoundError")
    assert lines[-1] == "drafted True"


def test_import_errors_of_the_worker_stay_its_own(tmp_path: Path) -> None:
    site = package(tmp_path, eagle_worker="raise RuntimeError('no GPU here')\n")
    script = tmp_path / "run.py"
    script.write_text(
        f"import sys\nsys.path[:0] = {[entry for entry in sys.path if entry]!r}\nimport {MODULE}\n"
    )
    hook = write_hook(tmp_path, rendered())
    environment = os.environ | {"PYTHONPATH": f"{hook}{os.pathsep}{site}"}
    done = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "RuntimeError: no GPU here" in done.stderr


def test_files_are_ascii_and_valid_for_python_3_8() -> None:
    for text in rendered().values():
        assert text.isascii()
        ast.parse(text, feature_version=(3, 8))


def test_a_worker_without_a_cycle_is_refused() -> None:
    with pytest.raises(PatchError, match="no worker that we know"):
        import_hook_files({MODULE: b"x = 1\n"}, session_id="s", utc="u")
