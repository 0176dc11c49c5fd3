"""A web server with range requests that misbehaves on request."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

_RANGE = re.compile(r"bytes=(\d+)-(\d+)")


class Store(BaseHTTPRequestHandler):
    """Serves one file.

    :cvar mode: ``good``; ``failing``: every second request has status 500; ``short``:
        a range is answered with at most 1,000 bytes; ``whole``: ranges are ignored;
        ``stuck``: a range isn't answered until the server stops.
    """

    content: ClassVar[bytes] = b""
    mode: ClassVar[str] = "good"
    requests: ClassVar[int] = 0
    stopping: ClassVar[threading.Event]
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._head(200, len(self.content))

    def do_GET(self) -> None:
        type(self).requests += 1
        if self.mode == "stuck":
            self.stopping.wait()
            self.close_connection = True
            return
        if self.mode == "failing" and self.requests % 2:
            self._head(500, 0)
            return
        asked = _RANGE.match(self.headers.get("Range", ""))
        if asked is None or self.mode == "whole":
            self._head(200, len(self.content))
            self.wfile.write(self.content)
            return
        start, end = int(asked[1]), int(asked[2]) + 1
        part = self.content[start:end]
        if self.mode == "short":
            part = part[:1000]
        self._head(206, len(part))
        self.wfile.write(part)

    def _head(self, status: int, length: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.send_header("ETag", '"one"')
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(file: Path, mode: str = "good") -> Iterator[str]:
    """Serve a file, and return its address."""
    stopping = threading.Event()
    own = {"content": file.read_bytes(), "mode": mode, "stopping": stopping}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("One", (Store,), own))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{file.name}"
    finally:
        stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()
