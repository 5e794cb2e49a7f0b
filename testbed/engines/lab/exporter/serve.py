"""The exporter's two processes: one listens and needs no rights, the other is root and does not listen."""

from __future__ import annotations

import ipaddress
import signal
import threading
from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import MetricsHandler

from testbed.base import web
from testbed.engines.lab.exporter.collector import HostCollector
from testbed.engines.lab.exporter.registers import Reader, write
from testbed.errors import BadInput

EXAMPLE = "10.99.0.1:9465"


def address_of(text: str) -> tuple[str, int]:
    """``ADDRESS:PORT``: one address, since what is exported is for the management network. Raises BadInput."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise BadInput(f"--listen {text}: expected the host's management address and a port, as {EXAMPLE}") from None
    if address.is_unspecified:
        raise BadInput(f"--listen {text}: not on all addresses; name the management address, as {EXAMPLE}")
    if not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise BadInput(f"--listen {text}: '{port}' is no port; expected 1 to 65535, as {EXAMPLE}")
    return str(address), int(port)


def serve(listen: str, root: Path) -> None:
    """Until SIGTERM or SIGINT. Raises BadInput if the address cannot be had."""
    host, port = address_of(listen)
    ended = _ended_by_signals()
    try:
        server = web.Server(host, port, _handler(root))
    except OSError as error:
        raise BadInput(f"--listen {listen}: {error.strerror or error}; name an address of this host") from None
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    ended.wait()
    server.shutdown()
    thread.join()
    server.server_close()


def _handler(root: Path) -> type[web.Handler]:
    class Metrics(web.Handler, MetricsHandler):
        registry = CollectorRegistry(auto_describe=False)

    Metrics.registry.register(HostCollector(root))
    return Metrics


def write_registers(root: Path, every: float | None) -> None:
    """Once, or every so many seconds until SIGTERM or SIGINT. Raises TestbedError if the file cannot be written."""
    ended, reader = _ended_by_signals(), Reader(root)
    write(root, reader.read())
    while every is not None and not ended.wait(every):
        write(root, reader.read())


def _ended_by_signals() -> threading.Event:
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    return ended
