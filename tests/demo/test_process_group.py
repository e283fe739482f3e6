"""The ranks of one server: how they meet, how they fail to, and that they run the same batches."""

import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing import Pipe

import pytest

from specttui.demo.loopback import ReservedPort
from specttui.demo.simulated.sglang.simulation.clock import VirtualClock
from specttui.demo.simulated.sglang.simulation.mailboxes import FollowerMailbox, LeaderMailbox
from specttui.demo.simulated.sglang.simulation.messages import (
    AbortRequest,
    NewRequest,
    ResetAcceptance,
    from_json,
    to_json,
)
from specttui.demo.simulated.sglang.simulation.place import Place, places_on_node
from specttui.demo.simulated.sglang.simulation.process_group import Follower, Leader
from specttui.demo.simulated.sglang.srt.managers.scheduler import Scheduler

PATIENCE_S = 30.0


@pytest.fixture
def address():
    with closing(ReservedPort()) as port:
        yield f"127.0.0.1:{port.number}"


def connected(address):
    host, port = address.split(":")
    while True:
        try:
            return socket.create_connection((host, int(port)), timeout=PATIENCE_S)
        except ConnectionRefusedError:
            time.sleep(0.01)


def met(address, ranks, seed=7):
    """A leader and its followers, each joined; rank 0 first."""
    group = [Leader(Place(0, ranks, ranks), address, PATIENCE_S, seed)]
    group += [Follower(Place(rank, ranks, ranks), address, PATIENCE_S) for rank in range(1, ranks)]
    with ThreadPoolExecutor(ranks) as threads:
        for joined in [threads.submit(member.join) for member in group]:
            joined.result()
    return group


def test_ranks_are_split_evenly_over_nodes(models):
    args = models.args(0, "--nnodes", "3", "--node-rank", "2", "--dist-init-addr", "127.0.0.1:1", tp=9)
    places = places_on_node(args)
    assert [(place.rank, place.name, place.leads_node) for place in places] == [
        (6, "TP6", True),
        (7, "TP7", False),
        (8, "TP8", False),
    ]
    assert {place.on_node for place in places} == {range(6, 9)}
    assert places[1].title == "sglang::scheduler_TP7"
    assert Place().title == "sglang::scheduler"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--nnodes", "3", "--dist-init-addr", "h:1"), "tp_size must be divisible by number of nodes"),
        (("--nnodes", "2"), "please provide --dist-init-addr as host:port of head node"),
    ],
)
def test_nodes_that_cannot_be(models, flags, message):
    with pytest.raises(AssertionError, match=message):
        models.args(0, *flags, tp=8)


def test_all_share_the_leaders_seed(address):
    assert [member.seed for member in met(address, 3)] == [7, 7, 7]


def test_without_a_seed_one_is_drawn_for_all(address):
    leader, follower = met(address, 2, seed=None)
    assert leader.seed is not None
    assert follower.seed == leader.seed


def test_messages_survive_the_way_to_other_ranks():
    messages = [NewRequest("a", 128, 512, True), AbortRequest("b"), ResetAcceptance()]
    assert from_json(json.loads(json.dumps(to_json(messages)))) == messages


def test_a_rank_that_never_comes(address):
    leader = Leader(Place(0, 3, 3), address, 0.3, 1)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(leader.join)
        with connected(address) as other:
            other.sendall(b'{"rank": 2}\n')
            with pytest.raises(RuntimeError) as raised:
                waiting.result()
    assert str(raised.value) == "Timed out after 1 seconds waiting for clients. 2/3 clients joined."
    assert type(raised.value).__name__ == "DistStoreError"


@pytest.mark.parametrize("words", [b"GET /\n", b'{"rank": 0}\n', b'{"rank": 9}\n', b"[]\n"])
def test_whoever_else_connects_is_sent_away(address, words):
    leader, follower = Leader(Place(0, 2, 2), address, PATIENCE_S, 1), Follower(Place(1, 2, 2), address, 30)
    with ThreadPoolExecutor(2) as threads:
        joined = [threads.submit(leader.join)]
        with connected(address) as stranger:
            stranger.sendall(words)
            assert stranger.recv(1) == b""
        joined.append(threads.submit(follower.join))
        assert [each.result() for each in joined] == [None, None]


def test_a_rank_that_came_died_and_comes_again_is_taken(address):
    leader = Leader(Place(0, 3, 3), address, PATIENCE_S, 5)
    with ThreadPoolExecutor(1) as threads:
        joining = threads.submit(leader.join)
        with connected(address) as dead:
            dead.sendall(b'{"rank": 1}\n')
        with connected(address) as again, connected(address) as last:
            again.sendall(b'{"rank": 1}\n')
            last.sendall(b'{"rank": 2}\n')
            joining.result()
            assert again.recv(100) == last.recv(100) == b'{"seed": 5}\n'


def test_nobody_at_the_meeting_place(address):
    with pytest.raises(RuntimeError) as raised:
        Follower(Place(1, 2, 2), address, 0.2).join()
    port = address.split(":")[1]
    assert str(raised.value) == (
        f"The client socket has timed out after 200ms while trying to connect to (127.0.0.1, {port})."
    )
    assert type(raised.value).__name__ == "DistNetworkError"


def test_a_connection_that_is_gone_at_once_is_tried_again(address, monkeypatch):
    """As when a leader that gives up ends with the connection still in its queue."""
    connect = socket.create_connection
    tried = []

    def connect_later(*where, **options):
        tried.append(where)
        return connect(*where, **options) if len(tried) > 1 else socket.socket()

    monkeypatch.setattr(socket, "create_connection", connect_later)
    met(address, 2)
    assert len(tried) >= 2


def test_the_meeting_place_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(RuntimeError) as raised:
            Leader(Place(0, 2, 2), f"127.0.0.1:{port}", 1, 1).join()
    assert str(raised.value) == (
        f"The server socket has failed to listen on any local network address. port: {port}, "
        "useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use"
    )


def test_the_leader_dies_while_the_others_wait(address):
    with (
        ThreadPoolExecutor(1) as threads,
        socket.create_server(("127.0.0.1", int(address.split(":")[1]))) as dying,
    ):
        joining = threads.submit(Follower(Place(1, 2, 2), address, PATIENCE_S).join)
        dying.accept()[0].close()
        with pytest.raises(RuntimeError, match=r"^failed to recv, got 0 bytes$"):
            joining.result()


def test_a_follower_that_dies_is_missed_at_once(address):
    leader, follower, _ = met(address, 3)
    leader.check()
    follower._leader.shutdown(socket.SHUT_RDWR)
    with pytest.raises(RuntimeError, match="ncclRemoteError") as raised:
        leader.synchronize()
    assert f"{type(raised.value).__module__}.{type(raised.value).__name__}" == (
        "torch.distributed.DistBackendError"
    )


def test_a_leader_that_dies_is_missed_at_once(address):
    leader, follower = met(address, 2)
    follower.check()
    leader.others[0].close()
    for notice in (follower.check, follower.next_messages):
        with pytest.raises(RuntimeError, match=r"Connection closed by remote peer 127\.0\.0\.1<\d+>"):
            notice()


def test_all_ranks_run_the_same_batches(models, address, caplog):
    """The same tokens in the same time on every rank, and only rank 0 speaks of it."""
    args = models.args(5)
    leader, follower = met(address, 2)
    ours, theirs = Pipe()
    clocks = [VirtualClock(), VirtualClock()]
    steps = 400
    with caplog.at_level(logging.WARNING):
        second = Scheduler(args, FollowerMailbox(follower), clocks[1], joined(follower))
        first = Scheduler(args, LeaderMailbox(theirs, leader), clocks[0], joined(leader))
    caplog.clear()
    following = threading.Thread(target=lambda: [second.step() for _ in range(steps)])
    following.start()
    for step in range(steps):
        if step in (0, 150):
            ours.send(NewRequest(f"r{step}", 128, 600))
        if step == 200:
            ours.send(AbortRequest("r150"))
            ours.send(NewRequest("last", 64, 2000))
        first.step()
        while ours.poll():
            ours.recv()
    following.join(PATIENCE_S)
    assert first.stats.total_tokens > 400
    assert second.stats.total_tokens == first.stats.total_tokens
    assert clocks[1].now() == clocks[0].now()
    assert [req.output_tokens for req in second.running] == [req.output_tokens for req in first.running]
    speakers = {record.thread for record in caplog.records}
    assert speakers == {threading.get_ident()}


def joined(member):
    """A group that has met already, as loading sees it."""
    member.join = lambda: None
    return member
