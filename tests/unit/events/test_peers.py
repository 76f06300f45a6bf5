"""Names of peers, from the kernel."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from iotide.events.network.peers import connection_at, connections_at, name_of_peer, peer_of, peer_user, user_name


@pytest.mark.parametrize("scheme", ["tcp", "ipc"])
def test_connections_to_an_endpoint_are_found_with_their_peers(tmp_path: Path, scheme: str) -> None:
    listener = socket.socket(socket.AF_INET if scheme == "tcp" else socket.AF_UNIX)
    listener.bind(("127.0.0.1", 0) if scheme == "tcp" else f"{tmp_path}/in")
    listener.listen()
    with listener, socket.socket(listener.family) as client:
        client.connect(listener.getsockname())
        accepted, _ = listener.accept()
        with accepted:
            place = f"127.0.0.1:{listener.getsockname()[1]}" if scheme == "tcp" else f"{tmp_path}/in"
            (found,) = connections_at(f"{scheme}://{place}")
            with found:
                assert (found.getsockname(), found.getpeername()) == (accepted.getsockname(), accepted.getpeername())
            assert connection_at(listener.fileno(), f"{scheme}://{place}") is None
            with Path(os.devnull).open("rb") as file:
                assert connection_at(file.fileno(), f"{scheme}://{place}") is None
            if scheme == "tcp":
                assert (peer_of(accepted), peer_user(accepted)) == ("127.0.0.1", None)
                assert name_of_peer(accepted) == f"127.0.0.1:{client.getsockname()[1]}"
            else:
                user = user_name(os.getuid())
                assert (peer_of(accepted), peer_user(accepted)) == (f"user {user}", os.getuid())
                assert name_of_peer(accepted) == f"user {user}, process {os.getpid()}"
