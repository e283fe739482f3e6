"""The HTTP server's life: after the engine is up it listens, warms up, serves, and drains on SIGTERM."""

from __future__ import annotations

import errno
import http.client
import json
import logging
import os
import signal
import sys
import threading
import time
from http.server import ThreadingHTTPServer
from typing import Any

from ...simulation.settings import read_settings
from ...simulation.traffic import Traffic
from ..managers.scheduler_client import SchedulerClient
from ..server_args import ServerArgs
from .engine import Engine
from .handler import ServerState, make_handler

logger = logging.getLogger(__name__)

_READY = "The server is fired up and ready to roll!"
_EXIT_PORT_IN_USE = 3
_WARM_UP_TIMEOUT_S = 30.0
_DRAIN_POLL_S = 0.1
_WARM_UP_BODY = json.dumps({"input_ids": [10] * 6, "sampling_params": {"max_new_tokens": 8}})


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base's types
        """A client that hangs up is no news, as with uvicorn; anything else is told in full."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def launch_server(server_args: ServerArgs) -> None:
    """Run a server, or the node of one, until it is stopped or fails; returns never."""
    settings = read_settings()
    engine = Engine(server_args, settings)
    if server_args.node_rank > 0:
        engine.run_ranks()
    client = SchedulerClient(engine.launch())
    client.start()
    state = ServerState(server_args, client, engine.max_total_num_tokens)
    logger.info("INFO:     Started server process [%d]", os.getpid())
    logger.info("INFO:     Waiting for application startup.")
    logger.info("INFO:     Application startup complete.")
    listener = _listen(state, engine)
    logger.info("INFO:     Uvicorn running on %s (Press CTRL+C to quit)", server_args.url())
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    traffic = Traffic(client, settings.traffic)
    signal.signal(signal.SIGTERM, lambda *_: _start_draining(client, traffic, engine))
    threading.Thread(target=_finish_start, args=(state, traffic, engine), daemon=True).start()
    engine.wait()


def _listen(state: ServerState, engine: Engine) -> _Listener:
    args = state.server_args
    try:
        return _Listener((args.host, args.port), make_handler(state))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
    logger.error(
        "ERROR:    [Errno 98] error while attempting to bind on address ('%s', %d): address already in use",
        args.host, args.port,
    )  # fmt: skip
    logger.info("INFO:     Waiting for application shutdown.")
    # The warm-up reaches whoever listens there, and takes the answer for its own server's.
    if _warm_up(args):
        logger.info(_READY)
    logger.info("INFO:     Application shutdown complete.")
    engine.kill_children()
    sys.stderr.flush()
    os._exit(_EXIT_PORT_IN_USE)


def _finish_start(state: ServerState, traffic: Traffic, engine: Engine) -> None:
    if not state.server_args.skip_server_warmup and not _warm_up(state.server_args):
        engine.kill_all()
    state.ready = True
    logger.info(_READY)
    traffic.start()


def _warm_up(args: ServerArgs) -> bool:
    headers = {"Authorization": f"Bearer {args.api_key}"} if args.api_key else {}
    try:
        for method, path, body in (("GET", "/model_info", None), ("POST", "/generate", _WARM_UP_BODY)):
            host = args.url().removeprefix("http://")
            connection = http.client.HTTPConnection(host, timeout=_WARM_UP_TIMEOUT_S)
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            response.read()
            connection.close()
            if response.status != http.client.OK:
                raise http.client.HTTPException(f"{path} answered {response.status}")  # noqa: TRY301
    except (OSError, http.client.HTTPException) as error:
        logger.error("Initialization failed. warmup error: %s", error)  # noqa: TRY400
        return False
    return True


def _start_draining(client: SchedulerClient, traffic: Traffic, engine: Engine) -> None:
    traffic.stop()
    threading.Thread(target=_drain, args=(client, engine), daemon=True).start()


def _drain(client: SchedulerClient, engine: Engine) -> None:
    remaining = client.remaining()
    if remaining:
        _log_remaining(remaining)
    while client.remaining():
        time.sleep(_DRAIN_POLL_S)
    # Whoever just got the last token still has to write it to its client.
    time.sleep(_DRAIN_POLL_S)
    _log_remaining([])
    engine.kill_all()


def _log_remaining(rids: list[str]) -> None:
    logger.info(
        "Gracefully exiting... Remaining number of requests %d. Remaining requests remaining_rids=%s.",
        len(rids), rids,
    )  # fmt: skip
