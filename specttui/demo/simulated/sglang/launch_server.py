"""`python -m sglang.launch_server`: the simulated server's main process."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Sequence

from .simulation.logs import configure_logging
from .srt.entrypoints.http_server import launch_server
from .srt.server_args import prepare_server_args

logger = logging.getLogger(__name__)


def main(argv: Sequence[str]) -> None:
    """Start a server from its command line; returns never, or raises what is wrong with it."""
    warnings.warn(
        "'python -m sglang.launch_server' is still supported, but 'sglang serve' is the recommended "
        "entrypoint.\n  Example: sglang serve --model-path <model> [options]",
        UserWarning,
        stacklevel=1,
    )
    configure_logging("info")
    server_args = prepare_server_args(argv)
    configure_logging(server_args.log_level)
    logger.info("server_args=%r", server_args)
    launch_server(server_args)


if __name__ == "__main__":
    main(sys.argv[1:])
