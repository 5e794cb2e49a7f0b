"""What a run shows to the outside while it goes on: /metrics for Prometheus, /live for events, / for the page.

The socket is bound before anything is built, so that an address in use costs nothing; requests are answered by threads
from the moment the sandbox has been forked. Nothing in the sandbox ever waits for a client.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NamedTuple

from testbed.base import web
from testbed.errors import BadInput
from testbed.live.edit import Edited, answered
from testbed.live.exporter import Exporter
from testbed.live.reached import MOST_BYTES

HOST, PORT = "127.0.0.1", 9464
PORTS_TRIED = 16  # runs that go on at once take the next ones
MOST_EVENTS = 1500  # kept for clients that connect late: five minutes
CLOSING_SECONDS = 1.0  # of wall time, for clients to receive the last event, or the rest of an answer


class Edits(NamedTuple):
    """Who shows the token may ask ``edit`` for changes of the run, which raises BadInput for what cannot be."""

    token: str
    edit: Callable[[dict[str, Any]], Edited]


class LiveServer(web.Server):
    """Serves the newest state of one run: ``exporter`` makes the metrics, `publish` adds an event."""

    page: web.Page | None = None
    edits: Edits | None = None  # with a token: who has it may edit

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port, _Handler)
        self.exporter = Exporter()
        self.clients = 0
        self._events: list[bytes] = []
        self._head = MOST_EVENTS  # events before the first update: always kept
        self._dropped = 0  # updates that are no longer kept
        self._changed = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True)

    @property
    def url(self) -> str:
        """Where the page is."""
        host, port = self.server_address[:2]
        return f"http://{f'[{host!s}]' if ':' in str(host) else host!s}:{port}"

    def start(self) -> None:
        """Answer requests from now on. Call it after the fork: a child would inherit locks without their owners."""
        if not self._thread.is_alive():
            self._thread.start()

    def publish(self, event: str, data: dict[str, Any]) -> None:
        """Send an event to all clients, now or when they connect."""
        text = f"event: {event}\ndata: {json.dumps(data, separators=(',', ':'), allow_nan=False)}\n\n"
        with self._changed:
            if event == "update":
                self._head = min(self._head, len(self._events))
            self._events.append(text.encode())
            if len(self._events) > MOST_EVENTS:
                del self._events[self._head]
                self._dropped += 1
            self._changed.notify_all()

    def wait_for_events(self, seen: int) -> tuple[list[bytes], int]:
        """Block until there are more than ``seen`` events. Returns them, none at the end, and how many there are."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or len(self._events) + self._dropped > seen)
            first = max(min(seen, self._head), seen - self._dropped)
            return self._events[first:], len(self._events) + self._dropped

    def close(self) -> None:
        """Give clients a moment to receive what is under way, then stop."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        deadline = time.monotonic() + CLOSING_SECONDS
        while self.clients and time.monotonic() < deadline:
            time.sleep(0.01)
        if self._thread.is_alive():
            self.shutdown()
        self.server_close()


class _Handler(web.Handler):
    protocol_version = "HTTP/1.1"
    server: LiveServer

    def do_GET(self) -> None:
        self.server.clients += 1
        try:
            self._answer(self.path.partition("?")[0])
        finally:
            self.server.clients -= 1

    def _answer(self, path: str) -> None:
        if path == "/live":
            self._live()
        elif path == "/metrics":
            self._metrics()
        elif path == "/" and self.server.page is not None:
            content, self.policy = self.server.page
            self._send("text/html; charset=utf-8", content)
        else:
            there = b"/ (with --ui), /live and /metrics\n"
            self._send("text/plain; charset=utf-8", b"there are " + there, HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        edits, length = self.server.edits, self.headers.get("Content-Length", "")
        self.close_connection = True  # what was sent may not have been read
        if self.path != "/edit" or edits is None:
            self._tell(HTTPStatus.FORBIDDEN, {"problem": "this run takes no edits here: it needs --allow-edits"})
        elif not secrets.compare_digest(self.headers.get("X-Token", "").encode(), edits.token.encode()):
            self._tell(HTTPStatus.FORBIDDEN, {"problem": "open the page at the address that the run has printed"})
        elif not length.isdecimal() or int(length) > MOST_BYTES:
            self._tell(HTTPStatus.BAD_REQUEST, {"problem": "too much, or of no length"})
        else:
            answer = answered(edits.edit, self.rfile.read(int(length)))
            self._tell(HTTPStatus.BAD_REQUEST if "problem" in answer else HTTPStatus.OK, answer)

    def _tell(self, status: HTTPStatus, answer: dict[str, Any]) -> None:
        self._send("application/json", json.dumps(answer).encode(), status)

    def _metrics(self) -> None:
        from prometheus_client import CollectorRegistry
        from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

        registry = CollectorRegistry(auto_describe=False)
        registry.register(self.server.exporter)
        # The plain format even for clients that accept OpenMetrics: it is made in half the time.
        self._send(CONTENT_TYPE_PLAIN_0_0_4, generate_latest(registry))

    def _send(self, content_type: str, body: bytes, status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _live(self) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            new, seen = self.server.wait_for_events(0)
            while new:
                self.wfile.write(b"".join(new))
                new, seen = self.server.wait_for_events(seen)
        except OSError:  # the client has gone
            return


def listen(address: str | None) -> LiveServer:
    """Bind ``HOST:PORT``, or the first free port from 9464 if None. Raises BadInput."""
    if address is None:
        return _first_free()
    host, port = _parse(address)
    try:
        return LiveServer(host, port)
    except OSError as error:
        raise BadInput(
            f"--metrics-addr {address}: {error.strerror or error}; name another HOST:PORT, or 'none'"
        ) from None


def _first_free() -> LiveServer:
    for port in range(PORT, PORT + PORTS_TRIED):
        try:
            return LiveServer(HOST, port)
        except OSError:  # taken, most likely by another run
            continue
    raise BadInput(
        f"no port from {PORT} to {PORT + PORTS_TRIED - 1} on {HOST} is free for metrics; "
        "name one with --metrics-addr HOST:PORT, or go without: --metrics-addr none"
    )


def _parse(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not int(port) < 1 << 16:
        raise BadInput(f"--metrics-addr {address}: expected HOST:PORT such as {HOST}:{PORT}, or 'none'")
    return host, int(port)
