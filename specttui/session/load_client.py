"""The load driver's far end: one self-contained script, sent to the host and run there.

It needs nothing but Python 3.6 and its standard library, talks to the server over the host's own loopback
and writes one JSON object per line after `MARK`. It deletes its own file first, because that holds the API
key. It is never imported on the host, and on this side only for its text and by its tests.
"""
# ruff: noqa: UP006, UP035, UP045
# Old interpreters run this: no `X | None`, no builtin generics, no future annotations.

import http.client
import json
import os
import socket
import ssl
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

MARK = "@specttui-load "
HEARTBEAT_S = 1.0
ERROR_BYTES = 4096


class RequestError(Exception):
    """A request got no usable answer; the message says why. `status` is the HTTP status, 0 without one."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Load:
    """Sends the job's prompts from `concurrency` threads until all are done or too many fail in a row."""

    def __init__(self, job: Dict[str, Any]) -> None:
        self.job = job
        self.lock = threading.Lock()
        self.taken = 0
        self.failures_in_a_row = 0
        self.openai = False
        self.model = ""

    def run(self) -> None:
        """Drive the whole load; a heartbeat a second notices a reader that went away."""
        started = time.perf_counter()
        count = min(self.job["concurrency"], self.job["requests"])
        threads = [threading.Thread(target=self.work, daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(HEARTBEAT_S)
                self.say({"kind": "beat"})
        self.say({"kind": "finished", "elapsed_s": time.perf_counter() - started})

    def work(self) -> None:
        """One thread: take prompts in turn and report each request."""
        while True:
            index = self.take()
            if index is None:
                return
            try:
                record = self.send(self.job["prompts"][index % len(self.job["prompts"])])
                record["kind"] = "request"
            except RequestError as error:
                record = {"kind": "failed", "message": str(error)}
            with self.lock:
                self.failures_in_a_row = self.failures_in_a_row + 1 if record["kind"] == "failed" else 0
            self.say(record)

    def take(self) -> Optional[int]:
        """The number of the next request, or None when there is nothing left to do."""
        with self.lock:
            hopeless = self.failures_in_a_row >= max(3, self.job["concurrency"])
            if hopeless or self.taken >= self.job["requests"]:
                return None
            self.taken += 1
            return self.taken - 1

    def say(self, record: Dict[str, Any]) -> None:
        """Write one line; when nobody reads any more, end the whole process."""
        line = MARK + json.dumps(record) + "\n"
        with self.lock:
            try:
                sys.stdout.write(line)
                sys.stdout.flush()
            except (OSError, ValueError):
                os._exit(1)

    def send(self, prompt: str) -> Dict[str, Any]:
        """One request through the native endpoint, or OpenAI's where the server lacks that."""
        if not self.openai:
            try:
                return self.stream("/generate", self.native_body(prompt))
            except RequestError as error:
                if error.status not in (404, 405):
                    raise
                self.openai = True
        return self.stream("/v1/completions", self.openai_body(prompt))

    def native_body(self, prompt: str) -> Dict[str, Any]:
        """The body of a request to /generate."""
        sampling = {"max_new_tokens": self.job["max_new_tokens"], "temperature": 0, "ignore_eos": True}
        return {"text": prompt, "sampling_params": sampling, "stream": True}

    def openai_body(self, prompt: str) -> Dict[str, Any]:
        """The body of a request to /v1/completions."""
        with self.lock:
            self.model = self.model or self.first_model()
        return {
            "model": self.model,
            "prompt": prompt,
            "max_tokens": self.job["max_new_tokens"],
            "temperature": 0,
            "ignore_eos": True,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def first_model(self) -> str:
        """The name of the first model the server lists."""
        connection = self.connect()
        try:
            response = self.ask(connection, "GET", "/v1/models", None)
            return str(json.loads(response.read().decode("utf-8", "replace"))["data"][0]["id"])
        except (ValueError, KeyError, IndexError, TypeError):
            raise RequestError("The server lists no model at /v1/models") from None
        finally:
            connection.close()

    def stream(self, path: str, body: Dict[str, Any]) -> Dict[str, Any]:
        """Send one streaming request and measure it."""
        connection = self.connect()
        try:
            started = time.perf_counter()
            response = self.ask(connection, "POST", path, body)
            return measured(started, *self.events(response))
        finally:
            connection.close()

    def connect(self) -> http.client.HTTPConnection:
        """A connection to the server; its certificate is not checked, the way there is the host itself."""
        host, port, timeout = self.job["host"], self.job["port"], self.job["timeout_s"]
        if self.job["tls"]:
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
        return http.client.HTTPConnection(host, port, timeout=timeout)

    def ask(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: Optional[Dict[str, Any]]
    ) -> http.client.HTTPResponse:
        """Send a request; the response when it is a good one."""
        headers = {"Content-Type": "application/json"}
        if self.job["api_key"]:
            headers["Authorization"] = "Bearer " + self.job["api_key"]
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            response = connection.getresponse()
            if response.status == 200:
                return response
            text = response.read(ERROR_BYTES).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise RequestError(self.explain(error)) from error
        raise RequestError(f"HTTP {response.status}: {message_in(text)}", response.status)

    def events(self, response: http.client.HTTPResponse) -> Tuple[List[float], bytes, bytes]:
        """Read a stream of server-sent events: times of the first and last one, and their data."""
        times: List[float] = []
        first, last = b"", b""
        try:
            for line in response:
                data = line[5:].strip() if line.startswith(b"data:") else b""
                if not data or data == b"[DONE]":
                    continue
                times = [times[0] if times else time.perf_counter(), time.perf_counter()]
                first, last = first or data, data
        except (OSError, http.client.HTTPException) as error:
            raise RequestError(self.explain(error)) from error
        if not times:
            raise RequestError("The server ended its answer before the first token")
        return times, first, last

    def explain(self, error: Exception) -> str:
        """A network error in words."""
        where = f"{self.job['host']}:{self.job['port']}"
        if isinstance(error, ConnectionRefusedError):
            return f"Nothing listens on {where} of the host"
        if isinstance(error, socket.timeout):
            return f"The server at {where} was silent for {self.job['timeout_s']:g} s"
        if isinstance(error, ssl.SSLError):
            return f"TLS with the server at {where} failed: {error}"
        return f"The connection to the server at {where} broke: {str(error) or type(error).__name__}"


def measured(started: float, times: List[float], first: bytes, last: bytes) -> Dict[str, Any]:
    """The figures of one request from its first and last event.

    Times in ms. TPOT is the time from the first to the last event over the tokens in between, so a first
    event that already holds several tokens does not flatter it.
    """
    begin, end = decoded(first), decoded(last)
    meta = end.get("meta_info") or {}
    usage = end.get("usage") or {}
    tokens = int(meta.get("completion_tokens") or usage.get("completion_tokens") or 0)
    if not tokens:
        raise RequestError("The server's answer holds no token count")
    between = tokens - int((begin.get("meta_info") or {}).get("completion_tokens") or 1)
    return {
        "ttft_ms": (times[0] - started) * 1000.0,
        "tpot_ms": (times[1] - times[0]) * 1000.0 / between if between > 0 else None,
        "latency_ms": (times[1] - started) * 1000.0,
        "tokens": tokens,
        "prompt_tokens": meta.get("prompt_tokens") or usage.get("prompt_tokens"),
        "verify_count": meta.get("spec_verify_ct") or None,
    }


def decoded(data: bytes) -> Dict[str, Any]:
    """One event's JSON object; an error or an abort in it fails the request."""
    try:
        event = json.loads(data.decode("utf-8", "replace"))
    except ValueError:
        event = None
    if not isinstance(event, dict):
        raise RequestError(f"The server's answer is no JSON: {data[:80]!r}")
    if event.get("error"):
        raise RequestError(message_in(json.dumps(event)))
    reason = (event.get("meta_info") or {}).get("finish_reason")
    if isinstance(reason, dict) and reason.get("type") == "abort":
        raise RequestError(f"The server aborted the request: {reason.get('message') or 'no reason given'}")
    return event


def message_in(text: str) -> str:
    """The message inside an error body of SGLang's or OpenAI's shape, or its beginning as it is."""
    try:
        found: Any = json.loads(text)
    except ValueError:
        found = text
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(key):
            found = found[key]
    plain = found if isinstance(found, str) else json.dumps(found)
    return " ".join(plain.split())[:400] or "no explanation"


def main(job: str) -> None:
    """Run the job given as JSON text."""
    try:
        Path(__file__).unlink()
    except OSError:
        sys.stderr.write(f"the job file {__file__} could not be removed\n")
    Load(json.loads(job)).run()
