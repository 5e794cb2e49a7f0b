"""All hosts of a run, from the operator's side: every step on all hosts before the next one on any.

connect   have all the testbed that is here?
inspect   can all take part? nothing is changed on any host before all can
attach    the NIC programs are on the interfaces
measure   base RTTs, one host after the other, while no other traffic of ours is on the wires
launch    the agents are ready
start     each starts its own clock when it receives the start message
receive   reports, until the experiment is over, the user stops it, or a host is lost
collect   all counters and series
detach    the hosts are as they were
"""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from testbed.agent.identity import Identity
from testbed.engines.lab.operator.connection import DISCONNECTED, HostConnection, Inbox
from testbed.engines.lab.operator.observed_run import PATIENCE, ObservedRun
from testbed.engines.lab.protocol.channel import PROTOCOL, Message
from testbed.engines.lab.protocol.code_digest import code_digest
from testbed.errors import BadInput, TestbedError

CONNECT_SECONDS = 30.0
STEP_SECONDS = 60.0  # for a step that compiles, probes or loads
COLLECT_SECONDS = 30.0
KEEPALIVE_SECONDS = 1.0
POLL_SECONDS = 0.05
DRAIN_SECONDS = 0.3  # after the last packet was sent, until what is on its way has arrived
LOST = "the control channel was lost"


class HostGroup:
    """Hosts in the order of `ObservedRun.hosts`. As a context: they are left as they were when it ends."""

    def __init__(self, observed: ObservedRun) -> None:
        self.observed = observed
        self.inbox: Inbox = queue.SimpleQueue()
        self.connections: list[HostConnection] = []
        self.loaded_plugins: list[Identity] = []
        self.about: list[dict[str, Any]] = []  # of each host, for the manifest
        self.lost = ""  # which host, and why
        self.differences: list[str] = []  # what is not as it was before
        self.start_spread = 0.0  # s, at most so far are the hosts' starts apart
        self._ended: set[HostConnection] = set()
        self._next_keepalive = 0.0
        self._last_message: dict[HostConnection, float] = {}

    def __enter__(self) -> Self:
        try:
            for name, host in zip(self.observed.hosts, self.observed.inventory.hosts, strict=True):
                self.connections.append(HostConnection(name, host, self.inbox))
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    def _close(self) -> None:
        self._send("detach")
        for connection in self.connections:
            connection.close()

    def _send(self, kind: str, data: dict[str, object] | None = None) -> None:
        for connection in self.connections:
            connection.send(kind, data)

    # -- before the run -------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Raises BadInput or TestbedError if a host does not answer, or has another testbed."""
        wrong = []
        for connection, hello in self._answers("hello", CONNECT_SECONDS).items():
            data = hello.data
            if data.get("protocol") != PROTOCOL or data.get("digest") != code_digest():
                wrong.append(f"{connection}: testbed {data.get('version')}, digest {str(data.get('digest'))[:12]}")
        if wrong:
            raise BadInput(
                f"not every host has the testbed that is here (digest {code_digest()[:12]}); push it with "
                "ansible/playbooks/agents.yml\n  " + "\n  ".join(wrong)
            )

    def inspect(self) -> None:
        """Raises BadInput with all reasons why hosts cannot take part."""
        for number, connection in enumerate(self.connections):
            config, columns = self.observed.host_config(number)
            connection.send("inspect", config.model_dump(mode="json"), columns)
        for connection, answer in self._answers("inspected", STEP_SECONDS).items():
            interface, host = connection.host.variables.roce_interface, connection.host.name
            self.about.append({"host": connection.name, "name": host, "interface": interface, **answer.data})
        self.observed.set_port_rates([float(one["speed"]) for one in self.about])

    def attach(self) -> None:
        """From now on, packets of this run are answered."""
        self._send("attach", {"addresses": [one["address"] for one in self.about]})
        self._answers("attached", STEP_SECONDS)

    def measure(self) -> None:
        """Base RTTs of all flows."""
        self._base_rtt = []
        for number, connection in enumerate(self.connections):
            connection.send("measure")
            found = self._answers("measured", STEP_SECONDS, [connection])[connection].data["base_rtt"]
            self.about[number]["base_rtt"] = found
            self._base_rtt.append(self.observed.set_base_rtts(number, found))

    def launch(self) -> None:
        """The agents, which then wait."""
        layout = self.observed.layout  # whose base RTTs are the measured ones now
        timeout = layout.retransmission_timeout(layout.shape.largest_buffer)
        for connection, base_rtt in zip(self.connections, self._base_rtt, strict=True):
            connection.send("launch", {"timeout": timeout}, {"base_rtt": base_rtt})
        for answer in self._answers("launched", STEP_SECONDS).values():
            if answer.data["loaded_plugin"]:
                self.loaded_plugins.append(Identity(**answer.data["loaded_plugin"]))

    def start(self) -> None:
        """Each host starts between our message and its answer, both on our clock: so far apart they can be."""
        first = time.monotonic()
        self._send("start")
        started = self._answers("started", PATIENCE)
        last = time.monotonic()
        for report, message in zip(self.observed.reports, started.values(), strict=True):
            report.update(message)
        self.start_spread = last - first
        self.observed.clock = self.observed.clock.started()
        self._last_message = dict.fromkeys(self.connections, last)

    def _answers(
        self, kind: str, patience: float, connections: Sequence[HostConnection] | None = None
    ) -> dict[HostConnection, Message]:
        """One message of a kind from each. Raises one error with the reasons of all that failed."""
        waiting = list(connections if connections is not None else self.connections)
        found: dict[HostConnection, Message] = {}
        failed: list[tuple[str, bool]] = []
        deadline = time.monotonic() + patience
        while waiting:
            self._keep_alive()  # for those that wait for others
            try:
                connection, message = self.inbox.get(timeout=POLL_SECONDS)
            except queue.Empty:
                if time.monotonic() < deadline:
                    continue
                silent = ", ".join(map(str, waiting))
                raise TestbedError(f"nothing was run: no answer within {patience:g} s from {silent}") from None
            if message.kind == DISCONNECTED:
                connection.disconnected = True
                failed.append((f"{connection}: {message.data['why'] or connection.why_disconnected()}", False))
            elif message.kind == "failed":
                failed.append((f"{connection}: {message.data['why']}", bool(message.data["bad_input"])))
            elif message.kind == kind:
                found[connection] = message
            else:
                continue
            if connection in waiting:
                waiting.remove(connection)
        if failed:
            error = BadInput if all(bad for _, bad in failed) else TestbedError
            raise error("nothing was run\n  " + "\n  ".join(text for text, _ in failed))
        return {connection: found[connection] for connection in self.connections if connection in found}

    # -- during the run -------------------------------------------------------------------------------------------

    def receive(self, until: float) -> None:
        """Messages, until a moment of the monotonic clock; afterwards `lost` names a host that was lost."""
        while True:
            self._keep_alive()
            try:
                connection, message = self.inbox.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                self._find_silent()  # now, with nothing unread: it may have been us who were late
                return
            self._last_message[connection] = time.monotonic()
            if message.kind == DISCONNECTED:
                why = message.data["why"] or connection.why_disconnected()
                if not connection.disconnected:
                    self._lose(connection, LOST, why)
                connection.disconnected = True
            elif message.kind == "failed":
                self._lose(connection, "the agent failed", message.data["why"])
            elif message.kind == "ended":
                self._ended.add(connection)
                if message.data["failure"]:
                    self._lose(connection, "the agent died", message.data["failure"])
            elif message.kind in ("status", "record"):
                try:
                    self.observed.reports[self.connections.index(connection)].update(message)
                except TestbedError as error:
                    self._lose(connection, LOST, str(error))

    def _lose(self, connection: HostConnection, what: str, why: str) -> None:
        self.lost = self.lost or f"{connection}: {what}: {why}"

    def _keep_alive(self) -> None:
        now = time.monotonic()
        if now >= self._next_keepalive:
            self._next_keepalive = now + KEEPALIVE_SECONDS
            self._send("keepalive")

    def _find_silent(self) -> None:
        now = time.monotonic()
        for connection, last in self._last_message.items():
            if now - last > PATIENCE and connection not in self._ended and not connection.disconnected:
                connection.disconnected = True
                self._lose(connection, LOST, f"no message for {PATIENCE:g} s")

    def finished(self) -> bool:
        """Whether all hosts have ended."""
        return len(self._ended) == len(self.connections)

    # -- after the run --------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """No more packets."""
        self._send("stop")

    def collect(self) -> None:
        """The records of all hosts that are still connected."""
        self.receive(time.monotonic() + DRAIN_SECONDS)
        asked = [connection for connection in self.connections if not connection.disconnected]
        for connection in asked:
            connection.send("collect")
        deadline = time.monotonic() + COLLECT_SECONDS
        reports = dict(zip(self.connections, self.observed.reports, strict=True))
        while any(not reports[one].record and not one.disconnected for one in asked) and time.monotonic() < deadline:
            self.receive(time.monotonic() + POLL_SECONDS)
        for one in asked:
            if not reports[one].record:
                self._lose(one, LOST, "it sent no record of its counters")

    def detach(self) -> None:
        """Have all detach their programs; `differences` names what is not as it was, and hosts without an answer."""
        waiting = [connection for connection in self.connections if not connection.disconnected]
        for connection in waiting:
            connection.send("detach")
        deadline = time.monotonic() + PATIENCE
        while waiting and time.monotonic() < deadline:
            try:
                connection, message = self.inbox.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            connection.disconnected |= message.kind == DISCONNECTED
            if connection not in waiting or message.kind not in ("detached", "failed", DISCONNECTED):
                continue
            waiting.remove(connection)
            if message.kind == "detached":
                self.differences += [f"{connection}: {one}" for one in message.data["differences"]]
            else:
                why = message.data["why"] or connection.why_disconnected()
                self.differences.append(f"{connection}: it did not confirm that its programs are detached: {why}")
        silent = f"it did not confirm within {PATIENCE:g} s that its programs are detached"
        self.differences += [f"{connection}: {silent}" for connection in waiting]
