"""What our HTTP servers and pages have in common: whom they answer, and what browsers are told to keep from.

A web site can have its own name point to 127.0.0.1 (DNS rebinding) and then read in a visitor's browser what is served
there. So on a loopback address only the server's own names are answered.
"""

from __future__ import annotations

import socket
import sys
from base64 import b64encode
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, NamedTuple

OFFLINE = "default-src 'none'; base-uri 'none'; form-action 'none'"  # every policy begins so
UNFRAMED = "frame-ancestors 'none'"  # means something in a header only
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LOCAL = ("localhost", "127.0.0.1", "::1")


class Page(NamedTuple):
    """An HTML document and its Content-Security-Policy."""

    content: bytes
    policy: str


def fingerprint(text: str) -> str:
    """What a policy calls a script or style that is in the page."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


class Server(ThreadingHTTPServer):
    """Answers each request in a thread of its own."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, handler: type[Handler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.host = host  # as it was named
        super().__init__((host, port), handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away before it has its answer is no error of ours."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def names(self, address: str) -> set[str]:
        """What a browser may call this server at one of its addresses: values of ``Host:``."""
        port = self.server_port
        bare = {f"[{name}]" if ":" in name else name for name in (*LOCAL, self.host.lower(), address)}
        return {f"{name}:{port}" for name in bare} | (bare if port == 80 else set())


class Handler(BaseHTTPRequestHandler):
    """Of a `Server`."""

    server: Server
    policy = OFFLINE  # of the answer

    def parse_request(self) -> bool:
        """Refuse other names, whatever is asked for."""
        self.policy = OFFLINE
        if not super().parse_request():
            return False
        address = self.connection.getsockname()[0]
        if not _is_loopback(ip_address(address)):
            return True
        asked = self.headers.get_all("Host", [])
        names = self.server.names(address)
        if len(asked) == 1 and asked[0].lower() in names:
            return True
        self.send_error(HTTPStatus.FORBIDDEN, explain=f"on this address only {', '.join(sorted(names))} are answered")
        return False

    def end_headers(self) -> None:
        """With those that all answers have."""
        for name, value in {**HEADERS, "Content-Security-Policy": f"{self.policy}; {UNFRAMED}"}.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not worth a line."""


def _is_loopback(address: IPv4Address | IPv6Address) -> bool:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback
