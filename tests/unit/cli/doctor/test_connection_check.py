"""Connections that `iotide doctor --cluster` cannot make, each with a different cause."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import zmq
import zmq.auth
from iotide.cli.doctor import connection_check
from iotide.cli.doctor.checks import BrokenError
from iotide.events.network.curve import make_keys
from zmq.auth.thread import ThreadAuthenticator


@contextmanager
def listening(
    folder: Path, kind: int = zmq.ROUTER, key: Path | None = None, allowed: Path | None = None
) -> Iterator[str]:
    """Runs a socket; yields its endpoint.

    Args:
        folder: folder of the socket.
        kind: kind of the socket.
        key: its secret key; it then only accepts encrypted connections.
        allowed: folder with the keys that it accepts; by default any.
    """
    with zmq.Context() as context, ExitStack() as stack, context.socket(kind) as server:
        server.linger = 0
        if allowed is not None:
            authenticator = ThreadAuthenticator(context)
            authenticator.start()
            stack.callback(authenticator.stop)
            authenticator.configure_curve(domain="*", location=str(allowed))
        if key is not None:
            server.curve_publickey, server.curve_secretkey = zmq.auth.load_certificate(key)
            server.curve_server = True
        endpoint = f"ipc://{folder}/in"
        server.bind(endpoint)
        yield endpoint


def use_keys(monkeypatch: pytest.MonkeyPatch, own: Path, server: Path) -> None:
    monkeypatch.setenv("IOTIDE_KEY", str(own))
    monkeypatch.setenv("IOTIDE_SERVER_KEY", str(server))


def test_connection_in_plain_text_is_made(tmp_path: Path) -> None:
    with listening(tmp_path) as endpoint:
        assert connection_check.connect(endpoint) == f"{endpoint}, plain text"


def test_port_without_a_listener_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    for endpoint in (f"tcp://127.0.0.1:{port}", f"ipc://{tmp_path}/gone"):
        with pytest.raises(BrokenError, match="nothing listens at") as told:
            connection_check.connect(endpoint)
        assert "`ingest`" in told.value.remedy


def test_host_without_an_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(*_: object, **__: object) -> None:  # a resolver without a network may take a minute
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    with pytest.raises(BrokenError, match="has no address here") as told:
        connection_check.connect("tcp://iotide.invalid:9787")
    assert "DNS" in told.value.remedy


def test_listener_that_is_no_aggregator_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(64)
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        answering = threading.Thread(target=answer)
        answering.start()
        with pytest.raises(BrokenError, match="is not an aggregator's port for collectors"):
            connection_check.connect(f"tcp://127.0.0.1:{server.getsockname()[1]}")
        answering.join()


def test_listener_that_is_silent_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_check, "_PATIENCE_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(BrokenError, match="does not answer") as told:
        connection_check.connect(f"tcp://127.0.0.1:{server.getsockname()[1]}")
    assert "packet filters" in told.value.remedy


def test_port_for_subscribers_is_told_from_that_for_collectors(tmp_path: Path) -> None:
    with listening(tmp_path, zmq.PUB) as endpoint, pytest.raises(BrokenError, match="accepts no collectors") as told:
        connection_check.connect(endpoint)
    assert "9789" in told.value.remedy


def test_keys_that_are_missing_or_wrong_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (server, server_secret), (own, own_secret) = (make_keys(tmp_path, name) for name in ("server", "own"))
    with listening(tmp_path, key=server_secret) as endpoint:
        with pytest.raises(BrokenError, match="requires keys"):
            connection_check.connect(endpoint)
        use_keys(monkeypatch, own_secret, server)
        assert "encrypted" in connection_check.connect(endpoint)
        use_keys(monkeypatch, own_secret, own)
        with pytest.raises(BrokenError, match="IOTIDE_SERVER_KEY is not its public key"):
            connection_check.connect(endpoint)


def test_key_that_the_aggregator_does_not_allow_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (server, server_secret), (own, own_secret) = (make_keys(tmp_path, name) for name in ("server", "own"))
    use_keys(monkeypatch, own_secret, server)
    (allowed := tmp_path / "allowed").mkdir()
    refused = pytest.raises(BrokenError, match="does not accept your key")
    with listening(tmp_path, key=server_secret, allowed=allowed) as endpoint, refused as told:
        connection_check.connect(endpoint)
    assert zmq.auth.load_certificate(own)[0].decode() in str(told.value)


def test_keys_for_an_aggregator_without_any_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (server, _), (_, own_secret) = (make_keys(tmp_path, name) for name in ("server", "own"))
    use_keys(monkeypatch, own_secret, server)
    with listening(tmp_path) as endpoint, pytest.raises(BrokenError, match="has no key"):
        connection_check.connect(endpoint)
