"""Requests to servers that are no aggregator, and addresses that are none: each is an error with cause and remedy."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from iotide.cli.doctor.checks import BrokenError
from iotide.cli.doctor.prometheus_check import scraped
from iotide.clients.job_fetch import fetch, fetch_for_all_jobs, fetch_text, send_to_all
from iotide.daemon.journal.jetstream.resources import MONITOR_ERRORS, monitor_data
from iotide.events import InputError
from iotide.results.jobs.job import JobDetail, JobList
from support.servers.principals import certificate

REQUESTS: dict[str, Callable[[str], object]] = {
    "of a job": lambda address: fetch(f"{address}/jobs/4711", "", JobDetail),
    "of all jobs": lambda address: fetch_for_all_jobs(address, "jobs", JobList),
    "of a text": lambda address: fetch_text(f"{address}/metrics"),
    "with a body": lambda address: send_to_all(address, "pacing", "PUT", b"{}"),
}
EVERY_REQUEST = pytest.mark.parametrize("request_of", REQUESTS.values(), ids=REQUESTS)
HEAD = b"HTTP/1.1 200 OK\r\n"
NO_HTTP = {
    "another protocol": b"SSH-2.0-OpenSSH_9.2p1\r\n",
    "a line without an end": b"x" * 70_000,
    "too many headers": HEAD + b"".join(b"x-%d: 1\r\n" % number for number in range(200)) + b"\r\n",
    "no status": b"HTTP/1.1 fine\r\n\r\n",
}


@contextlib.contextmanager
def answering(answer: bytes, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve connections that get the same bytes after their request, and yield HOST:PORT."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):  # the server is closed
                while True:
                    connection, _ = server.accept()
                    with connection, contextlib.suppress(OSError):  # of a client that speaks another protocol
                        if context:  # the handshake comes with the first bytes
                            connection = context.wrap_socket(
                                connection, server_side=True, do_handshake_on_connect=False
                            )
                        with connection:
                            connection.recv(65_536)
                            connection.sendall(answer)
                            connection.shutdown(socket.SHUT_WR)
                            while connection.recv(65_536):  # closing with an unread rest would reset the connection
                                pass

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)  # ends accept
            thread.join()


@EVERY_REQUEST
@pytest.mark.parametrize("answer", NO_HTTP.values(), ids=NO_HTTP)
def test_answer_that_is_no_http_is_told(request_of: Callable[[str], object], answer: bytes) -> None:
    with answering(answer) as place, pytest.raises(InputError, match=r"does not speak HTTP.*expected http://HOST:PORT"):
        request_of(f"http://{place}")


@EVERY_REQUEST
def test_answer_that_is_cut_is_told(request_of: Callable[[str], object]) -> None:
    cut = HEAD + b"Content-Length: 500\r\n\r\n{}"
    with answering(cut) as place, pytest.raises(InputError, match="the answer ends after 2 bytes"):
        request_of(f"http://{place}")


@pytest.mark.parametrize("name", ["of a job", "of all jobs"])
def test_answer_that_is_another_document_is_told_in_one_line(name: str) -> None:
    other = HEAD + b"Content-Length: 2\r\n\r\n{}"
    with answering(other) as place, pytest.raises(InputError, match=r"the answer is no job(detail|list)") as told:
        REQUESTS[name](f"http://{place}")
    assert "\n" not in str(told.value)


@EVERY_REQUEST
@pytest.mark.parametrize(
    "address",
    ["http://localhost:97x88", "http://localhost:99999", "http://[::1", "http://a b:80", "http://", "http://\n:1",
     "localhost", "localhost:9788", "127.0.0.1:9788", "ftp://localhost", "file:///etc", ""],
)  # fmt: skip
def test_address_that_is_none_is_told(request_of: Callable[[str], object], address: str) -> None:
    with pytest.raises(InputError, match=r"no address of an aggregator; expected http://HOST:PORT"):
        request_of(address)


@EVERY_REQUEST
def test_scheme_that_the_port_does_not_speak_is_told_with_the_other(
    request_of: Callable[[str], object], tmp_path: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path))
    with answering(b"", context) as place:
        with pytest.raises(InputError, match=f"this port speaks TLS.*expected https://{place}"):
            request_of(f"http://{place}")
        with pytest.raises(InputError, match=r"certificate is not trusted.*SSL_CERT_FILE"):
            request_of(f"https://{place}")
    plain = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with plain as place, pytest.raises(InputError, match=f"does not speak TLS.*expected http://{place}"):
        request_of(f"https://{place}")


@pytest.mark.parametrize("answer", NO_HTTP.values(), ids=NO_HTTP)
def test_other_servers_that_speak_no_http_are_told(answer: bytes) -> None:
    with answering(answer) as place:
        with pytest.raises(BrokenError, match="does not answer as Prometheus does"):
            scraped(f"http://{place}", "http://127.0.0.1:9788", "job")
        with pytest.raises(MONITOR_ERRORS):
            monitor_data(f"http://{place}/jsz")
