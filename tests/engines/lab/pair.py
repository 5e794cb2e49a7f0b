"""Two network namespaces with a link between them, and agents in them without ssh: pipes are the control channel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from pyroute2 import IPRoute

from testbed.base import linux
from testbed.engines.lab.host.interface import Interface, InterfaceState
from testbed.engines.lab.protocol.channel import Message, Unpacker, pack
from testbed.engines.lab.protocol.host_config import HostConfig
from testbed.errors import TestbedError

NAMES = ("left0", "right0")
ADDRESSES = ("10.97.0.1", "10.97.0.2")
WITHOUT_TCX = "from testbed.dataplane import libbpf; libbpf.attach_tcx = lambda *_, **__: None; "


class Pair(NamedTuple):
    """Descriptors of the namespaces; interface ``NAMES[i]`` with ``ADDRESSES[i]`` is in the i-th."""

    netns: tuple[int, int]

    def state(self, end: int) -> InterfaceState:
        with linux.inside(self.netns[end]):
            return Interface(NAMES[end]).state()


@contextmanager
def pair() -> Iterator[Pair]:
    made = Pair((linux.new_netns(), linux.new_netns()))
    with linux.inside(made.netns[0]), IPRoute() as ip:
        ip.link("add", ifname=NAMES[0], kind="veth", peer={"ifname": NAMES[1], "net_ns_fd": made.netns[1]})
    for netns, name, address in zip(made.netns, NAMES, ADDRESSES, strict=True):
        with linux.inside(netns), IPRoute() as ip:
            index = ip.link_lookup(ifname=name)[0]
            ip.addr("add", index=index, address=address, prefixlen=24)
            ip.link("set", index=index, state="up")
    try:
        yield made
    finally:
        for netns in made.netns:
            os.close(netns)


def host_config(end: int, **settings: Any) -> HostConfig:
    """One flow from the left to the right."""
    known = {
        "host": end,
        "hosts": ["h1", "h2"],
        "interface": NAMES[end],
        "address": "",
        "controller": "fixed",
        "source": "",
        "options": {},
        "compiled": True,
        "isolate": False,
        "flows": 1,
        "first": end,
        "payload": 1000,
        "int_hops": 0,
        "burst": 1,
        "line_rate": 1e6,
        "hops": 1,
        "duration": 30.0,
        "warmup": 0.1,
        "interval": 0.01,
        "series": [0] if end == 0 else [],
        "decisions": 0,
        "port": 4793,
        "p_key": 0x8123,
        "feedback_delay": 0.002,
        "patience": 5.0,
        "deadline": 60.0,
    }
    return HostConfig.model_validate({**known, **settings})


class Served:
    """`testbed agent` at one end, and the operator's side of its channel."""

    def __init__(self, pair: Pair, end: int, tcx: bool = True) -> None:
        code = ("" if tcx else WITHOUT_TCX) + "from testbed.cli.main import main; raise SystemExit(main())"
        with linux.inside(pair.netns[end]):
            self.process = subprocess.Popen(
                [sys.executable, "-c", code, "agent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )  # fmt: skip
        self._unpacker = Unpacker()
        self._waiting: list[Message] = []

    def send(self, kind: str, data: dict[str, Any] | None = None, arrays: dict[str, Any] | None = None) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(pack(kind, data, arrays))
        self.process.stdin.flush()

    def receive(self, kind: str) -> Message:
        """The next message of this kind."""
        assert self.process.stdout is not None
        while True:
            while self._waiting:
                message = self._waiting.pop(0)
                if message.kind == "failed":
                    raise TestbedError(message.data["why"])
                if message.kind == kind:
                    return message
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            assert chunk, f"the agent has gone, no {kind} came"
            self._waiting += self._unpacker.feed(chunk)

    def attached(self, config: HostConfig) -> None:
        """Until its programs are on the interface."""
        none = np.empty(0)
        sends = config.host == 0
        columns = {
            "dst": np.array([1] if sends else [], np.int64),
            "size": np.array([np.inf]) if sends else none,
            "start": np.zeros(1) if sends else none,
        }
        self.receive("hello")
        self.send("inspect", config.model_dump(mode="json"), columns)
        self.receive("inspected")
        self.send("attach", {"addresses": list(ADDRESSES)})
        self.receive("attached")

    def end(self) -> None:
        """Whatever it does, it is gone after this."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
