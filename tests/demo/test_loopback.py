"""A port that is kept for a server."""

import socket
from contextlib import ExitStack, closing

import pytest

from specttui.demo.loopback import ReservedPort, answers


def test_nobody_else_gets_a_reserved_port():
    """As many sockets as find room in a process ask for any free port."""
    with closing(ReservedPort()) as port, ExitStack() as open_sockets:
        others = [open_sockets.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(500)]
        assert port.number not in {other.getsockname()[1] for other in others}
        with pytest.raises(OSError, match="already in use"), socket.socket() as blunt:
            blunt.bind(("127.0.0.1", port.number))


def test_its_server_binds_it_again_and_again():
    with closing(ReservedPort()) as port:
        for _ in range(3):
            assert not answers(port.number)
            with socket.create_server(("127.0.0.1", port.number)):
                socket.create_connection(("127.0.0.1", port.number)).close()
                with pytest.raises(OSError, match="already in use"):
                    socket.create_server(("127.0.0.1", port.number))
