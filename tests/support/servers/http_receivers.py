"""HTTP receivers on loopback with responses that a test sets."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class HttpReceiver:
    """Received messages as path, headers and body; the response may change at any time."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    silent: bool = False
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""


@contextlib.contextmanager
def http_receiver(**options: Any) -> Iterator[HttpReceiver]:
    """Run a receiver; a silent one responds only at the end of the block."""
    receiver = HttpReceiver(**options)
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"] or 0))
            receiver.requests.append((self.path, dict(self.headers), content))
            if receiver.silent:
                over.wait()
            with contextlib.suppress(OSError):  # the client has disconnected
                self.send_response(receiver.status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(receiver.body)))
                self.end_headers()
                self.wfile.write(receiver.body)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None: ...

        def log_error(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield receiver
        finally:
            over.set()
            server.shutdown()
            thread.join()
