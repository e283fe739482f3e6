"""A small HTTP server that answers like SGLang's API, for tests of the load driver."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class GenerateServer(ThreadingHTTPServer):
    """Listens on a free port of the loopback. `requests` holds (path, headers, body) of every request.

    Attributes decide the answers: `tokens_per_event` is how many tokens each streamed event adds,
    `native` whether /generate exists, `fail` maps a request's number from 0 to (status, body),
    `api_key` the key that is asked for, `abort_text` ends every stream with an abort, `verify` whether
    the counters of speculation are in the answer, `hold` keeps streams open until it is set.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = threading.Lock()
        self.requests: list[tuple[str, dict[str, str], dict[str, object]]] = []
        self.running = 0
        self.most_running = 0
        self.broken_pipes = 0
        self.tokens_per_event = 2
        self.native = True
        self.verify = True
        self.fail: dict[int, tuple[int, str]] = {}
        self.api_key = ""
        self.abort_text = ""
        self.hold = threading.Event()
        self.hold.set()
        self.meet: threading.Barrier | None = None

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def texts(self, key: str = "text") -> list[object]:
        """The prompts received."""
        return [body[key] for path, _, body in self.requests if key in body]


@contextmanager
def generate_server() -> Iterator[GenerateServer]:
    """A running server, shut down at the end."""
    server = GenerateServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.hold.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: GenerateServer
    left = True

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self._answer(200, json.dumps({"data": [{"id": "a-model"}]}))
        else:
            self._answer(404, '{"detail":"Not Found"}')

    def do_POST(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            number = len(server.requests)
            server.requests.append((self.path, dict(self.headers.items()), body))
            server.running += 1
            self.left = False
            server.most_running = max(server.most_running, server.running)
        try:
            self._post(number, body)
        except (BrokenPipeError, ConnectionResetError):
            with server.lock:
                server.broken_pipes += 1
        finally:
            self._leave()

    def _leave(self) -> None:
        """Done, before the client can know it: its next request may come at once."""
        with self.server.lock:
            self.server.running -= not self.left
            self.left = True

    def _post(self, number: int, body: dict[str, object]) -> None:
        server = self.server
        if server.meet is not None:
            server.meet.wait(30)
        if server.api_key and self.headers["Authorization"] != f"Bearer {server.api_key}":
            self._answer(401, '{"error":"Unauthorized"}')
        elif number in server.fail:
            self._answer(*server.fail[number])
        elif self.path == "/generate" and server.native:
            self._stream(self._native_events(body))
        elif self.path == "/v1/completions":
            self._stream(self._openai_events(body))
        else:
            self._answer(404, '{"detail":"Not Found"}')

    def _native_events(self, body: dict[str, object]) -> Iterator[dict[str, object]]:
        total = int(body["sampling_params"]["max_new_tokens"])  # type: ignore[index]
        step = self.server.tokens_per_event
        for done in [1, *range(1 + step, total, step), total]:
            reason = {"type": "length", "length": total} if done == total else None
            if done == total and self.server.abort_text:
                reason = {"type": "abort", "message": self.server.abort_text}
            meta: dict[str, object] = {"prompt_tokens": 7, "completion_tokens": done, "finish_reason": reason}
            if self.server.verify:
                meta["spec_verify_ct"] = done // step
            yield {"text": "x" * done, "meta_info": meta}

    def _openai_events(self, body: dict[str, object]) -> Iterator[dict[str, object]]:
        total = int(body["max_tokens"])  # type: ignore[call-overload]
        for _ in range(total):
            yield {"choices": [{"text": "x"}], "usage": None}
        yield {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": total}}

    def _stream(self, events: Iterator[dict[str, object]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            self._chunk(f"data: {json.dumps(event)}\n\n")
            while not self.server.hold.wait(0.05):
                self._chunk(": still here\n\n")
        self._leave()
        self._chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _answer(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
