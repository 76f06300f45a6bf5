"""The connection to NATS: versions of servers."""

from __future__ import annotations

import json
import socket
import threading

import pytest
from iotide.daemon.journal.jetstream.link import NatsLink
from iotide.daemon.journal.settings import JournalSettings
from iotide.events import ConfigError


def answer(listener: socket.socket, version: str) -> None:
    """Answer one client like a NATS server of a version, until it disconnects."""
    connection, _ = listener.accept()
    with connection:
        info = {"server_id": "s", "version": version, "max_payload": 1 << 20, "headers": True, "jetstream": True}
        connection.sendall(f"INFO {json.dumps(info)}\r\n".encode())
        while data := connection.recv(65_536):
            connection.sendall(b"PONG\r\n" * data.count(b"PING\r\n"))


@pytest.mark.parametrize(
    ("version", "is_old"), [("1.9.9", True), ("2.9.25", True), ("2.10.0", False), ("3.0.0", False)]
)
def test_servers_of_an_early_version_are_refused(version: str, is_old: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        server = threading.Thread(target=answer, args=(listener, version), daemon=True)
        server.start()
        settings = JournalSettings(servers=(f"nats://127.0.0.1:{port}",))
        if is_old:
            with pytest.raises(
                ConfigError, match=rf"server 127.0.0.1:{port} is of version {version}; update it to 2.10"
            ):
                NatsLink(settings)
        else:
            NatsLink(settings).close()
        server.join()
