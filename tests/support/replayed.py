"""A server that plays the events of a real run again (incast-8, 6 ms), and may cut the connection in the middle.

`incast-8.jsonl` is what ``testbed watch --format json`` printed.
"""

from __future__ import annotations

import copy
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from testbed.base import web
from testbed.live.page import page
from testbed.live.scene import ScenePort, drawn
from testbed.results.report.ranks import matrix

EVENTS: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "incast-8.jsonl").read_text().splitlines()
]
UPDATES = sum(event["event"] == "update" for event in EVENTS)


def of_two_controllers() -> list[dict[str, Any]]:
    """The same run, as if one controller had got 70 % and another the rest."""
    events = copy.deepcopy(EVENTS)
    for event in events:
        data = event["data"]
        if event["event"] == "scene":
            data["controllers"] = ["dctcp", "nscc"]
        elif event["event"] == "update":
            told = {name: values * 2 for name, values in data["controllers"].items()}
            data["controllers"] = told | {"share": [0.7, 0.3]}
    return events


def of_two_jobs() -> list[dict[str, Any]]:
    """The same run, as if it had been of two jobs, one of which had done nothing."""
    events = copy.deepcopy(EVENTS)
    for event in events:
        data = event["data"]
        if event["event"] == "scene":
            data["jobs"] = [{"name": "ring", "iterations": 8}, {"name": "training", "iterations": 3}]
            data |= {"ranks": ["ring h1", "ring h2"], "sends": matrix(["h1", "h2"], ["h2", "h1"], np.array([1e6, 5e5]))}
        elif event["event"] == "update":
            data["jobs"] = {
                "iterations": [5, 0], "last": [2e-3, None], "straggler": [1.25, None], "bus_bandwidth": [64e9, None],
            }  # fmt: skip
            now = data["time"]
            data["spans"] = [[0, 0, now - 1e-4, now], [1, 1, now - 5e-5, now], [1, 2, now, now]]
    return events


def of_queues() -> list[dict[str, Any]]:
    """The same run, as if its ports had two queues."""
    events = copy.deepcopy(EVENTS)
    ports = [port["name"] for port in next(one["data"]["ports"] for one in events if one["event"] == "scene")]
    for event in events:
        data = event["data"]
        if event["event"] == "scene":
            data["queues"] = [
                {"port": port, "queue": queue, "classes": name}
                for port in ports
                for queue, name in (("3", "rdma"), ("7", "cnp"))
            ]
        elif event["event"] == "update":
            of_one = {
                "queue": [12e3, 0.0], "queue_max": [90e3, 64.0], "utilisation": [0.75, 0.01], "marked": [0.125, 0.0],
                "drops": [3, 0], "held": [4e-4, 0.0], "kmin": [5e3, None], "kmax": [200e3, None], "pmax": [0.01, None],
            }  # fmt: skip
            data["queues"] = {name: values * len(ports) for name, values in of_one.items()}
    return events


class Replay(web.Server):
    """``go_on`` lets out events past the first ``held``; ``cut`` ends the first connection after so many.

    If all are held, the connection stays open until then: the page would make it again, and begin anew.
    """

    def __init__(self, events: list[dict[str, Any]], held: int | None, cut: int | None) -> None:
        super().__init__("127.0.0.1", 0, _Handler)
        self.told = [f"event: {one['event']}\ndata: {json.dumps(served(one))}\n\n".encode() for one in events]
        self.held = len(self.told) if held is None else held
        self.stays = held == len(self.told)
        self.cut = cut
        self.go_on = threading.Event()
        self.connections = 0
        self.pause = 0.0  # s between events past ``held``

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


def served(event: dict[str, Any]) -> dict[str, Any]:
    """The event's data; a scene's drawing follows its ports, which a test may have changed."""
    told: dict[str, Any] = event["data"]
    if event["event"] != "scene" or "ports" not in told:
        return told
    ports = [ScenePort(**port) for port in told["ports"]]
    return told | {"topology": drawn(ports, told["bottleneck"])}


class _Handler(web.Handler):
    server: Replay

    def do_GET(self) -> None:
        body, self.policy = page() if self.path == "/" else (b"", web.OFFLINE)
        self.send_response(200 if self.path in ("/", "/live") else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8" if body else "text/event-stream")
        self.end_headers()
        try:
            self.wfile.write(body)
            if self.path == "/live":
                self._play()
        except OSError:  # the reader has gone
            return

    def _play(self) -> None:
        server = self.server
        server.connections += 1
        first = server.connections == 1
        for number, event in enumerate(server.told):
            if first and number == server.cut:
                return
            if number >= server.held:
                server.go_on.wait()
                time.sleep(server.pause)
            self.wfile.write(event)
        if server.stays:
            server.go_on.wait()


@contextmanager
def replay(events: list[dict[str, Any]] = EVENTS, held: int | None = None, cut: int | None = None) -> Iterator[Replay]:
    server = Replay(events, held, cut)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()
