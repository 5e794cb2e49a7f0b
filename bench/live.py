"""The cost of being watched: a scrape every second and a client of events, beside a run without clients."""

from __future__ import annotations

import http.client
import threading
import time
import urllib.request
from collections.abc import Iterator
from statistics import median

from bench import command
from bench.closed_loop import DCQCN, FULL_SPEED, REPEATS
from bench.measure import Row, spread

SECONDS = 3.0  # wall, per run
ADDRESS = "127.0.0.1:9495"
SCRAPE_EVERY = 1.0  # s
SCRAPE_SECONDS = 0.05
DELIVERED_LEAST = 0.97
FLOWS = 64


class Watcher:
    """Scrapes and reads while it is entered; ``seconds`` has the time of each scrape of a run that had begun."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._over = threading.Event()
        self._threads = [threading.Thread(target=work) for work in (self._scrape, self._read)]

    def __enter__(self) -> Watcher:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _scrape(self) -> None:
        while not self._over.wait(SCRAPE_EVERY):
            began = time.perf_counter()
            try:
                with urllib.request.urlopen(f"http://{ADDRESS}/metrics", timeout=5) as response:
                    body = response.read()
            except OSError:
                continue
            if b"testbed_flow_rtt_seconds" in body:
                self.seconds.append(time.perf_counter() - began)

    def _read(self) -> None:
        while not self._over.wait(0.1):
            try:
                connection = http.client.HTTPConnection(ADDRESS, timeout=5)
                connection.request("GET", "/live")
                connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                continue


def of_live() -> Iterator[Row]:
    """At the speed that two cores can just carry, alternating."""
    alone, watched, seconds = [], [], []
    for _ in range(REPEATS):
        alone.append(_packets("none"))
        with Watcher() as watcher:
            watched.append(_packets(ADDRESS))
        seconds += watcher.seconds
    ratios = [one / other for one, other in zip(watched, alone, strict=True)]
    yield Row(
        f"delivered, scraped every second and read / not, {FLOWS} flows", spread(ratios, ".1%"),
        f">= {DELIVERED_LEAST:.0%}", median(ratios) >= DELIVERED_LEAST,
        f"packets/s: {spread(watched)} / {spread(alone)}", {"watched": watched, "alone": alone},
    )  # fmt: skip
    yield Row(
        f"one scrape of {FLOWS} flows while the run goes on", f"{spread([1e3 * one for one in seconds], '.0f')} ms",
        f"< {1e3 * SCRAPE_SECONDS:.0f} ms", median(seconds) < SCRAPE_SECONDS,
        f"{len(seconds)} scrapes at full load", {"seconds": seconds},
    )  # fmt: skip


def _packets(address: str) -> float:
    duration = f"{SECONDS / FULL_SPEED * 1e3:g} ms"
    summary = command.run(
        "incast-64", "--dilation", f"{FULL_SPEED:g}", "--duration", duration, "--metrics-addr", address,
        *DCQCN, *command.UNCALIBRATED,
    )  # fmt: skip
    return float(summary["packets_per_wall_second"])
