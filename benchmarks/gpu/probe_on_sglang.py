"""The probe on a real SGLang and a real GPU: what it hooks, whether its figures add up, what it costs.

Needs a GPU, SGLang and its models on this machine; run from the repository's root, for instance

    PYTHONPATH=. python3 benchmarks/gpu/probe_on_sglang.py --workers v1,v2 --model M --draft D --out results

Each worker file is patched by specttui itself and restored at the end. The clock is switched through the
probe's control file while the server runs, so that all clocks are measured interleaved in one server; the
client counts tokens and verify steps by the server's own per-request counters. Nothing is synchronised by us.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import signal
import statistics
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specttui.events import Clock, Phase, ProbeClockChanged, ProbeCycles, ProbeError, ProbeInstalled
from specttui.log.parser import LogParser
from specttui.probe.control import control_content
from specttui.probe.patch import apply, remove

WORKER_FILES = {"v1": "eagle_worker.py", "v2": "eagle_worker_v2.py"}
PORT = 30000
ACCEPT_LEN = {2: "2.2", 3: "2.6", 5: "3.2"}


@dataclass
class Load:
    """What a client saw: tokens, verify steps and seconds of one segment."""

    seconds: float = 0.0
    tokens: int = 0
    verify_steps: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def tok_s(self) -> float:
        return self.tokens / self.seconds if self.seconds else 0.0

    def cycle_ms(self, concurrency: int) -> float | None:
        return 1000 * self.seconds * concurrency / self.verify_steps if self.verify_steps else None


class Server:
    """One SGLang server with its log."""

    def __init__(self, argv: list[str], env: dict[str, str], log: Path) -> None:
        self.log = log
        self._file = log.open("wb")
        self.process = subprocess.Popen(
            argv,
            stdout=self._file,
            stderr=subprocess.STDOUT,
            env={**os.environ, **env},
            start_new_session=True,
        )

    def wait_ready(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            if b"The server is fired up and ready to roll" in self.log.read_bytes():
                return True
            time.sleep(0.25)
        return False

    def stop(self) -> None:
        for _ in range(40):
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            if self.process.poll() is not None:
                break
            time.sleep(0.2)
        time.sleep(1.0)
        self._file.close()

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}", timeout=10) as answer:
            return str(answer.read().decode())


def generate(tokens: int) -> dict[str, Any]:
    """One request of 128 random ids; returns its meta_info."""
    body = {
        "input_ids": [random.randrange(10, 30000) for _ in range(128)],
        "sampling_params": {"temperature": 0, "max_new_tokens": tokens, "ignore_eos": True},
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{PORT}/generate",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return dict(json.loads(answer.read())["meta_info"])


def load(concurrency: int, seconds: float, tokens: int) -> Load:
    """Send requests back to back from `concurrency` threads for about `seconds`."""
    found, lock, began = Load(), threading.Lock(), time.perf_counter()

    def work() -> None:
        while time.perf_counter() - began < seconds:
            try:
                meta = generate(tokens)
            except OSError as error:
                found.errors.append(repr(error)[:200])
                return
            with lock:
                found.tokens += meta["completion_tokens"]
                found.verify_steps += meta.get("spec_verify_ct") or 0

    threads = [threading.Thread(target=work) for _ in range(concurrency)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.seconds = time.perf_counter() - began
    return found


def figures(lines: Iterable[ProbeCycles]) -> dict[str, Any]:
    """Medians per phase, the cycle, and the sum of phases over the cycle, of one segment's probe lines."""
    cycle_ms: list[float] = []
    sums: list[float] = []
    phases: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    self_us: list[float] = []
    steps: list[float] = []
    accepted = verified = dropped = 0
    for line in lines:
        dropped += line.dropped_cycles
        if line.self_us is not None:
            self_us.append(line.self_us)
        steps += line.draft_step_ms
        for index, cycle in enumerate(line.cycle_ms):
            counted = [
                line.phase_ms[p][index]
                for p in (Phase.DRAFT, Phase.VERIFY, Phase.DRAFT_EXTEND)
                if p in line.phase_ms
            ]
            if cycle is not None and all(value is not None for value in counted):
                cycle_ms.append(cycle)
                sums.append(sum(value for value in counted if value is not None))
        for target, source in ((phases, line.phase_ms), (cpu, line.cpu_ms)):
            for phase, values in source.items():
                target.setdefault(phase.value, []).extend(value for value in values if value is not None)
        for count, batch in zip(line.accepted, line.batch, strict=False):
            if count is not None:
                accepted, verified = accepted + count, verified + batch
    return {
        "cycles": len(cycle_ms),
        "cycle_mean_ms": _round(statistics.fmean(cycle_ms)) if cycle_ms else None,
        "cycle_median_ms": _round(statistics.median(cycle_ms)) if cycle_ms else None,
        "sum_over_cycle": _round(sum(sums) / sum(cycle_ms)) if cycle_ms else None,
        "phase_median_ms": {
            name: _round(statistics.median(values)) for name, values in phases.items() if values
        },
        "phase_mean_ms": {
            name: _round(statistics.fmean(values)) for name, values in phases.items() if values
        },
        "cpu_median_ms": {name: _round(statistics.median(values)) for name, values in cpu.items() if values},
        "accept_len": _round(accepted / verified + 1) if verified else None,
        "draft_step_ms": _round(statistics.median(steps)) if steps else None,
        "self_us": _round(statistics.median(self_us)) if self_us else None,
        "dropped_cycles": dropped,
    }


def _round(value: float) -> float:
    return round(value, 4)


class Bench:
    """Runs the segments of one worker and gathers their rows."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.out = Path(options.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.rows: list[dict[str, Any]] = []
        self.began = time.monotonic()

    @property
    def left_s(self) -> float:
        return float(self.options.limit_s) - (time.monotonic() - self.began)

    def say(self, **row: Any) -> None:
        row = {"at_s": round(time.monotonic() - self.began, 1), **row}
        self.rows.append(row)
        print(json.dumps(row), flush=True)
        (self.out / "rows.jsonl").open("a").write(json.dumps(row) + "\n")

    def argv(self, steps: int) -> list[str]:
        spec = (
            f"--speculative-algorithm EAGLE3 --speculative-draft-model-path {self.options.draft} "
            f"--speculative-num-steps {steps} --speculative-num-draft-tokens {steps + 1} "
            "--speculative-eagle-topk 1 --speculative-draft-load-format dummy"
        )
        base = (
            f"python3 -m sglang.launch_server --host 127.0.0.1 --port {PORT} "
            f"--model-path {self.options.model} --load-format dummy --mem-fraction-static 0.6 "
            "--grammar-backend none --sampling-backend pytorch "
            "--enable-metrics --cuda-graph-max-bs 16 --max-running-requests 16 "
            "--disable-piecewise-cuda-graph --decode-log-interval 40"
        )
        return f"{base} {spec}".split()

    @contextmanager
    def patched(self, worker: str, control: Path, **options: Any) -> Iterator[None]:
        spec = importlib.util.find_spec("sglang")
        assert spec is not None
        assert spec.origin is not None
        path = Path(spec.origin).parent / "srt" / "speculative" / WORKER_FILES[worker]
        original = path.read_bytes()
        patched = apply(
            original, session_id="gpu", utc="2026-11-29T00:00:00+00:00", clock=Clock.EVENTS,
            control_path=str(control), **options,
        )  # fmt: skip
        path.write_bytes(patched)
        try:
            yield
        finally:
            assert remove(path.read_bytes()) == original
            path.write_bytes(original)

    def worker(self, worker: str, order: list[str], order_b8: list[str], **options: Any) -> None:
        """All segments of one worker in one server."""
        control = self.out.resolve() / f"control-{worker}.json"
        suffix = "-steps" if options.get("draft_steps") else "-timer" if options.pop("timer", False) else ""
        name = worker + suffix
        env = {
            "SGLANG_ENABLE_SPEC_V2": "1" if worker == "v2" else "0",
            "SGLANG_SIMULATE_ACC_LEN": ACCEPT_LEN[3],
        }
        if name.endswith("-timer"):
            env["SGLANG_ENABLE_METRICS_DEVICE_TIMER"] = "1"
        self.set_clock(control, "events")
        with self.patched(worker, control, **options):
            server = Server(self.argv(3), env, self.out / f"{name}.log")
            try:
                if not server.wait_ready(min(180.0, self.left_s)):
                    self.say(worker=name, failed="not ready", exit=server.process.poll())
                    print(server.log.read_text(errors="replace")[-3000:], flush=True)
                    raise SystemExit(1)
                self.say(worker=name, ready=True)
                load(1, self.options.warm_s, 512)
                parser = _Follower(server.log)
                for concurrency, clocks, tokens in ((1, order, 512), (8, order_b8, 256)):
                    for clock in clocks:
                        self.segment(name, server, parser, control, clock, concurrency, tokens)
                self.say(worker=name, installed=parser.installed, errors=parser.errors)
            finally:
                server.stop()

    def set_clock(self, control: Path, clock: str) -> None:
        control.with_suffix(".new").write_text(control_content(Clock(clock)))
        control.with_suffix(".new").replace(control)

    def segment(
        self,
        name: str,
        server: Server,
        parser: _Follower,
        control: Path,
        clock: str,
        concurrency: int,
        tokens: int,
    ) -> None:
        if self.left_s < self.options.segment_s + 15:
            self.say(worker=name, skipped=clock, concurrency=concurrency)
            return
        self.set_clock(control, clock)
        load(concurrency, 1.5, 128)
        parser.take()
        before = self.timers(server)
        found = load(concurrency, self.options.segment_s, tokens)
        after = self.timers(server)
        time.sleep(0.3)
        lines = [line for line in parser.take() if line.clock.value == clock]
        self.say(
            worker=name, clock=clock, concurrency=concurrency, tok_s=round(found.tok_s, 2),
            client_cycle_ms=found.cycle_ms(concurrency), errors=found.errors, probe=figures(lines),
            timers={key: round(after[key] - before.get(key, 0.0), 4) for key in after},
            verify_steps=found.verify_steps,
        )  # fmt: skip

    def timers(self, server: Server) -> dict[str, float]:
        """SGLang's own device timers, GPU seconds by category."""
        found = {}
        for line in server.get("/metrics").splitlines():
            if line.startswith("sglang:forward_execution_seconds_total{"):
                category = line.split('category="')[1].split('"')[0]
                found[category] = found.get(category, 0.0) + float(line.rsplit(" ", 1)[1])
        return found


class _Follower:
    """Reads a log on and sorts out the probe's lines."""

    def __init__(self, log: Path) -> None:
        self._file = log.open("rb")
        self._parser = LogParser()
        self.installed: dict[str, Any] | None = None
        self.errors: list[str] = []

    def take(self) -> list[ProbeCycles]:
        found = []
        for event in self._parser.feed(self._file.read()):
            if isinstance(event, ProbeCycles):
                found.append(event)
            elif isinstance(event, ProbeInstalled):
                self.installed = event.model_dump(mode="json")
            elif isinstance(event, ProbeError):
                self.errors.append(event.message)
            elif isinstance(event, ProbeClockChanged):
                pass
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", default="v1,v2")
    parser.add_argument("--model", required=True)
    parser.add_argument("--draft", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--segment-s", type=float, default=5.0)
    parser.add_argument("--warm-s", type=float, default=8.0)
    parser.add_argument("--limit-s", type=float, default=560.0)
    parser.add_argument(
        "--order", default="off,events,wall,events,off,sync,events,off,wall,off,events,sync,off,events"
    )
    parser.add_argument("--order-b8", default="off,events,off,events,sync,off")
    parser.add_argument("--timer", action="store_true", help="a v2 server with SGLang's device timers on")
    parser.add_argument(
        "--draft-steps", action="store_true", help="servers that also time single draft steps"
    )
    options = parser.parse_args()
    bench = Bench(options)
    for worker in options.workers.split(","):
        if worker:
            bench.worker(worker, options.order.split(","), options.order_b8.split(","))
    if options.timer:
        bench.worker("v2", ["events", "off", "events"], [], timer=True)
    if options.draft_steps:
        for worker in ("v1", "v2"):
            bench.worker(worker, ["events", "off", "events"], [], draft_steps=True)


if __name__ == "__main__":
    main()
