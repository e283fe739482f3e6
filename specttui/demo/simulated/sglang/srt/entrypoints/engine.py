"""The processes of a server: started, watched, and taken down together."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import NoReturn

from ...simulation.place import Place, places_on_node
from ...simulation.process import fork_child, idle, is_alive
from ...simulation.settings import Settings
from ..managers.scheduler import run_scheduler_process
from ..server_args import ServerArgs

logger = logging.getLogger(__name__)

_OWNER_CHECK_S = 1.0


class Engine:
    """One process per rank of this node, and, on the node that answers clients, the detokenizer.

    On a single node only rank 0 works and the others are idle; on several all of them work.

    Args:
        server_args: The resolved arguments.
        settings: The demo's settings.
    """

    def __init__(self, server_args: ServerArgs, settings: Settings) -> None:
        self._args, self._settings = server_args, settings
        self._names: dict[int, str] = {}
        self._launched = False
        self.max_total_num_tokens = 0

    def launch(self) -> Connection:
        """Set the environment, start all processes and wait until the scheduler is ready.

        Returns:
            The pipe to the scheduler. When a process fails meanwhile, this process ends with it.
        """
        self._prepare()
        ours, theirs = Pipe()
        rank_0, *others = places_on_node(self._args)
        self._fork_scheduler(rank_0, theirs, ours)
        # Closed before the others are forked: so the pipe ends when the scheduler does.
        theirs.close()
        for place in others:
            self._fork_scheduler(place)
        self._names[fork_child("sglang::detokenizer", idle)] = "detokenizer"
        self._watch_owner()
        try:
            self.max_total_num_tokens = ours.recv().max_total_num_tokens
        except EOFError:
            self._fail("Rank 0 scheduler died during initialization.")
        self._launched = True
        return ours

    def run_ranks(self) -> NoReturn:
        """Run the ranks of a node that answers no clients, until they have ended."""
        self._prepare()
        for place in places_on_node(self._args):
            self._fork_scheduler(place)
        self._watch_owner()
        while self._names:
            pid, status = os.waitpid(-1, 0)
            del self._names[pid]
            logger.error(
                "Scheduler or DataParallelController %d terminated with %d",
                pid, os.waitstatus_to_exitcode(status),
            )  # fmt: skip
        raise SystemExit

    def wait(self) -> NoReturn:
        """Watch the processes; the first that ends takes the server down."""
        pid, status = os.waitpid(-1, 0)
        code = os.waitstatus_to_exitcode(status)
        logger.error(
            "Subprocess %s (pid=%d) crashed with exit code %d. Triggering SIGQUIT for cleanup...",
            self._names[pid], pid, code,
        )  # fmt: skip
        self._fail("SIGQUIT received. signum=None, frame=None. It usually means one child failed.")

    def kill_children(self) -> None:
        """Kill every process of the server but this one."""
        for pid in self._names:
            _kill(pid)

    def kill_all(self) -> NoReturn:
        """Kill the whole server, this process last: so it ends with -9, as the real one does."""
        self.kill_children()
        os.kill(os.getpid(), signal.SIGKILL)
        raise SystemExit

    def _prepare(self) -> None:
        os.environ.setdefault("NCCL_CUMEM_ENABLE", "0")
        os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
        os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "8"
        os.environ["CUDA_MODULE_LOADING"] = "AUTO"
        signal.signal(signal.SIGQUIT, self._on_child_failure)

    def _fork_scheduler(
        self, place: Place, theirs: Connection | None = None, ours: Connection | None = None
    ) -> None:
        def schedule() -> None:
            if ours is not None:
                ours.close()
            run_scheduler_process(self._args, place, theirs, self._settings.seed)

        works = place.nodes > 1 or place.rank == 0
        self._names[fork_child(place.title, schedule if works else idle)] = f"scheduler_{place.rank}"

    def _on_child_failure(self, *_: object) -> None:
        if self._launched:
            self._fail("SIGQUIT received. signum=None, frame=None. It usually means one child failed.")
        self._fail("Received sigquit from a child process. It usually means the child failed.")

    def _fail(self, message: str) -> NoReturn:
        logger.error("%s", message)
        self.kill_all()

    def _watch_owner(self) -> None:
        if self._settings.owner is None:
            return
        pid, ticks = self._settings.owner

        def watch() -> None:
            while is_alive(pid, ticks):
                time.sleep(_OWNER_CHECK_S)
            self.kill_all()

        threading.Thread(target=watch, daemon=True).start()


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
