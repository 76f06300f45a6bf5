"""Connected sockets have the same name at both ends, so that communication partners can be matched."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from iotide.analyzers.interaction.intake.channels import connection
from iotide.events import Kind, file_type_of
from iotide.events.schema import FileType
from support.tracing.tracing import Tracing

TALKS = """
import os, socket, sys
family, kind, where, mode = getattr(socket, sys.argv[1]), socket.SOCK_STREAM, sys.argv[2], sys.argv[3]
server = socket.socket(getattr(socket, sys.argv[4]), kind)
if server.family == socket.AF_INET6:
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
server.bind(eval(sys.argv[5]))
server.listen(1)
address = server.getsockname() if family == socket.AF_UNIX else (where, server.getsockname()[1])
if not os.fork():
    client = socket.socket(family, kind)
    if mode == "later":
        client.settimeout(30)
    client.connect(address)
    client.sendall(b"ask")
    client.recv(9)
    os._exit(0)
peer, _ = server.accept()
peer.recv(9)
peer.sendall(b"answer")
os.wait()
"""


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        (["AF_INET", "127.0.0.1", "now", "AF_INET", "('127.0.0.1', 0)"], "TCP:[127.0.0.1:"),
        (["AF_INET", "127.0.0.1", "later", "AF_INET", "('127.0.0.1', 0)"], "TCP:[127.0.0.1:"),
        (["AF_INET6", "::1", "now", "AF_INET6", "('::1', 0)"], "TCPv6:[[::1]:"),
        (["AF_INET", "127.0.0.1", "now", "AF_INET6", "('::', 0)"], "TCP:[127.0.0.1:"),
        (["AF_UNIX", "", "now", "AF_UNIX", "sys.argv[6] + '/s'"], "UNIX:["),
        (["AF_UNIX", "", "now", "AF_UNIX", "chr(0) + 'iotide' + str(os.getpid())"], "UNIX:["),
    ],
    ids=["v4", "non-blocking", "v6", "both", "local", "abstract"],
)
def test_both_ends_of_a_connection_have_one_name(
    arguments: list[str], begins: str, tracing: Tracing, tmp_path: Path
) -> None:
    done = tracing.run([sys.executable, "-c", TALKS, *arguments, tmp_path])
    assert (done.returncode, done.stderr) == (0, "")
    moved = [row for row in tracing.rows() if row.kind in (Kind.READ, Kind.WRITE) and row.call in ("send", "recv")]
    assert sorted((row.call, row.bytes) for row in moved) == [("recv", 3), ("recv", 6), ("send", 3), ("send", 6)]
    assert len({row.pid for row in moved}) == 2
    assert len({connection(row.path) for row in moved}) == 1
    assert all(row.path.startswith(begins) for row in moved)
    assert file_type_of(moved[0].path) is FileType.SOCKET


def test_unconnected_socket_keeps_the_kernels_name(tracing: Tracing) -> None:
    program = "import socket; a, b = socket.socketpair(); a.send(b'x'); b.recv(1); socket.socket().close()"
    assert tracing.run([sys.executable, "-c", program]).returncode == 0
    assert all(row.path.startswith("socket:[") for row in tracing.rows("send") + tracing.rows("recv"))
    assert tracing.rows("send")
