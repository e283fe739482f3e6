"""The HTTP endpoints."""

from __future__ import annotations

import http
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from ..managers.scheduler_client import SchedulerClient
from ..server_args import ServerArgs
from .generation import generate
from .openai_api import chat_completion, completion
from .reports import metrics_text, model_info, models, server_info

logger = logging.getLogger(__name__)

_FLUSHED = (
    "Cache flushed.\nPlease check backend logs for more details. "
    "(When there are running or waiting requests, the operation will not be performed.)\n"
)
_OPEN_PATHS = ("/health", "/metrics")


@dataclass(slots=True)
class ServerState:
    """What the endpoints report from; `ready` once the warm-up is through."""

    server_args: ServerArgs
    client: SchedulerClient
    max_total_num_tokens: int
    ready: bool = False


class Handler(BaseHTTPRequestHandler):
    """Answers one connection's requests; `state` is set by `make_handler`."""

    protocol_version = "HTTP/1.1"
    state: ServerState

    def do_GET(self) -> None:
        """Reports and probes."""
        self._route(_GET)

    def do_POST(self) -> None:
        """Generation and actions."""
        self._route(_POST)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """The access line, as uvicorn prints it."""
        del size
        status = http.HTTPStatus(int(code))
        logger.info(
            'INFO:     %s:%d - "%s HTTP/1.1" %d %s',
            self.client_address[0], self.client_address[1], f"{self.command} {self.path}",
            status.value, status.phrase,
        )  # fmt: skip

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Malformed requests: uvicorn's words."""
        del format, args
        logger.warning("WARNING:  Invalid HTTP request received.")

    def send_json(self, value: object, status: int = 200) -> None:
        """Answer with one JSON value."""
        self.send_text(json.dumps(value), status, "application/json")

    def send_text(self, text: str, status: int = 200, kind: str = "text/plain; charset=utf-8") -> None:
        """Answer with one text."""
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_stream(self) -> None:
        """Begin an answer of server-sent events."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send_event(self, data: object) -> None:
        """One event; a string is sent as it is."""
        text = f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(text), text))

    def end_stream(self) -> None:
        """End the answer."""
        self.send_event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def _route(self, routes: dict[str, Callable[[Handler, dict[str, Any]], None]]) -> None:
        path = self.path.partition("?")[0]
        body = self._read_body()
        if not self._allowed(path):
            self.send_json({"error": "Unauthorized"}, 401)
        elif path not in routes:
            self.send_json({"detail": "Not Found"}, 404)
        elif body is None:
            self.send_json({"detail": "JSON decode error"}, 422)
        else:
            self._answer(routes[path], body)

    def _answer(self, action: Callable[[Handler, dict[str, Any]], None], body: dict[str, Any]) -> None:
        try:
            action(self, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        except (TypeError, ValueError) as error:
            self.send_json({"error": {"message": str(error)}}, 400)

    def _read_body(self) -> dict[str, Any] | None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(data or b"{}")
        except ValueError:
            return None
        return body if isinstance(body, dict) else None

    def _allowed(self, path: str) -> bool:
        key = self.state.server_args.api_key
        return not key or path.startswith(_OPEN_PATHS) or self.headers.get("Authorization") == f"Bearer {key}"


def make_handler(state: ServerState) -> type[Handler]:
    """A handler class bound to a server's state."""
    return type("BoundHandler", (Handler,), {"state": state})


def _health(handler: Handler, _: dict[str, Any]) -> None:
    if not handler.state.ready:
        handler.send_text("", 503)
        return
    # As in the real server, asking for health costs a request of one token.
    for _answer in handler.state.client.submit(1, 1):
        pass
    handler.send_text("")


def _flush_cache(handler: Handler, _: dict[str, Any]) -> None:
    if handler.state.client.unfinished():
        logger.warning("Cache not flushed because there are pending requests.")
        handler.send_text(_FLUSHED, 400)
        return
    handler.state.client.reset_acceptance()
    logger.info("Cache flushed successfully!")
    handler.send_text(_FLUSHED)


def _metrics(handler: Handler, _: dict[str, Any]) -> None:
    if not handler.state.server_args.enable_metrics:
        handler.send_json({"detail": "Not Found"}, 404)
        return
    handler.send_text(metrics_text(handler.state.server_args, handler.state.client))


def _load(handler: Handler, _: dict[str, Any]) -> None:
    stats = handler.state.client.stats
    handler.send_json(
        [
            {
                "dp_rank": None,
                "num_reqs": stats.running + stats.queued,
                "num_waiting_reqs": stats.queued,
                "num_tokens": int(stats.token_usage * handler.state.max_total_num_tokens),
                "num_pending_tokens": 0,
                "ts_tic": time.perf_counter(),
            }
        ]
    )


def _server_info(handler: Handler, _: dict[str, Any]) -> None:
    state = handler.state
    handler.send_json(server_info(state.server_args, state.client, state.max_total_num_tokens))


def _model_info(handler: Handler, _: dict[str, Any]) -> None:
    handler.send_json(model_info(handler.state.server_args))


def _models(handler: Handler, _: dict[str, Any]) -> None:
    handler.send_json(models(handler.state.server_args))


def _generate(handler: Handler, body: dict[str, Any]) -> None:
    generate(handler, handler.state.client, body)


def _completion(handler: Handler, body: dict[str, Any]) -> None:
    completion(handler, handler.state.client, handler.state.server_args.served_model_name, body)


def _chat(handler: Handler, body: dict[str, Any]) -> None:
    chat_completion(handler, handler.state.client, handler.state.server_args.served_model_name, body)


_GET: dict[str, Callable[[Handler, dict[str, Any]], None]] = {
    "/health": _health,
    "/health_generate": _health,
    "/v1/models": _models,
    "/model_info": _model_info,
    "/get_model_info": _model_info,
    "/server_info": _server_info,
    "/get_server_info": _server_info,
    "/get_load": _load,
    "/metrics": _metrics,
    "/flush_cache": _flush_cache,
}
_POST: dict[str, Callable[[Handler, dict[str, Any]], None]] = {
    "/generate": _generate,
    "/v1/completions": _completion,
    "/v1/chat/completions": _chat,
    "/flush_cache": _flush_cache,
}
