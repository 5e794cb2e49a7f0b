"""One run over real hosts, from the operator's side: every step on all hosts before the next one on any.

examine   can all do it? until then nothing is changed anywhere
attach    the NIC programs are on the interfaces
measure   base RTTs, one host after the other, while no other traffic of ours is on the wires
launch    the agents wait
begin     each starts its own clock when the word reaches it
...       reports, until the experiment is over, somebody stops it, or a host is lost
gather    what was counted
leave     the hosts are as they were
"""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from testbed.agent.identity import Identity
from testbed.engines.lab.channel import PROTOCOL, Message
from testbed.engines.lab.digest import digest
from testbed.engines.lab.overview import PATIENCE, Overview
from testbed.engines.lab.session import GONE, Inbox, Session
from testbed.errors import BadInput, TestbedError

CONNECT_SECONDS = 30.0
STEP_SECONDS = 60.0  # for a step that compiles, probes or loads
GATHER_SECONDS = 30.0
ALIVE_SECONDS = 1.0  # between two words to each host
LOOK_SECONDS = 0.05
DRAIN_SECONDS = 0.3  # after the last packet was sent, until what is on its way has arrived


class Crowd:
    """All hosts of a run, in the order of `Overview.hosts`. As a context: they are left as they were when it ends."""

    def __init__(self, overview: Overview) -> None:
        self.overview = overview
        self.inbox: Inbox = queue.SimpleQueue()
        self.sessions: list[Session] = []
        self.loaded_plugins: list[Identity] = []
        self.about: list[dict[str, object]] = []  # of each host, for the manifest
        self.lost = ""  # which host, and why
        self.differs: list[str] = []  # what was not as before when they left
        self.start_spread = 0.0  # s, at most so far are the hosts' starts apart
        self._ended: set[Session] = set()
        self._next_word = 0.0
        self._heard: dict[Session, float] = {}

    def __enter__(self) -> Self:
        try:
            for name, host in zip(self.overview.hosts, self.overview.inventory.hosts, strict=True):
                self.sessions.append(Session(name, host, self.inbox))
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    def _close(self) -> None:
        for session in self.sessions:
            session.say("leave")
        for session in self.sessions:
            session.close()

    # -- before ---------------------------------------------------------------------------------------------------

    def greet(self) -> None:
        """Are all there, with the testbed that is here? Raises BadInput or TestbedError."""
        wrong = []
        for session, hello in self._answers("hello", CONNECT_SECONDS).items():
            data = hello.data
            if data.get("protocol") != PROTOCOL or data.get("digest") != digest():
                wrong.append(f"{session}: testbed {data.get('version')}, digest {str(data.get('digest'))[:12]}")
        if wrong:
            raise BadInput(
                f"not every host has the testbed that is here (digest {digest()[:12]}); push it with "
                "ansible/playbooks/agents.yml\n  " + "\n  ".join(wrong)
            )

    def examine(self) -> None:
        """Can all do it? Raises BadInput: all that is in the way on all hosts."""
        for number, session in enumerate(self.sessions):
            job, columns = self.overview.job(number)
            session.say("examine", job.model_dump(mode="json"), columns)
        answers = self._answers("fits", STEP_SECONDS)
        for session, answer in answers.items():
            interface = session.host.variables.roce_interface
            self.about.append({"host": session.name, "name": session.host.name, "interface": interface, **answer.data})

    def attach(self) -> None:
        """From now on, packets of this run are answered."""
        self._all("attach", {"addresses": [one["address"] for one in self.about]}, "attached")

    def measure(self) -> None:
        """Base RTTs of all flows."""
        self._base_rtt = []
        for number, session in enumerate(self.sessions):
            session.say("measure")
            found = self._answers("measured", STEP_SECONDS, [session])[session].data["base_rtt"]
            self.about[number]["base_rtt"] = found
            self._base_rtt.append(self.overview.measured(number, found))

    def launch(self) -> None:
        """The agents, which then wait."""
        for session, base_rtt in zip(self.sessions, self._base_rtt, strict=True):
            session.say("launch", {"timeout": self.overview.timeout()}, {"base_rtt": base_rtt})
        for answer in self._answers("launched", STEP_SECONDS).values():
            if answer.data["decider"]:
                self.loaded_plugins.append(Identity(**answer.data["decider"]))

    def begin(self) -> None:
        """Start them. Each begins between our word and its answer, both on our clock: so far apart they can be."""
        first = time.monotonic()
        for session in self.sessions:
            session.say("begin")
        begun = self._answers("begun", PATIENCE)
        last = time.monotonic()
        for mirror, message in zip(self.overview.mirrors, begun.values(), strict=True):
            mirror.take(message)
        self.start_spread = last - first
        self.overview.clock = self.overview.clock.started()
        self._heard = dict.fromkeys(self.sessions, last)

    def _all(self, kind: str, data: dict[str, object], answer: str) -> None:
        for session in self.sessions:
            session.say(kind, data)
        self._answers(answer, STEP_SECONDS)

    def _answers(self, kind: str, patience: float, sessions: Sequence[Session] | None = None) -> dict[Session, Message]:
        """One message of a kind from each. Raises what those say who cannot, all of it in one."""
        waiting = list(sessions if sessions is not None else self.sessions)
        found: dict[Session, Message] = {}
        failed: list[tuple[str, bool]] = []
        deadline = time.monotonic() + patience
        while waiting:
            self._word()  # those who wait for others must not think that nobody is here
            try:
                session, message = self.inbox.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                if time.monotonic() < deadline:
                    continue
                silent = ", ".join(map(str, waiting))
                raise TestbedError(f"nothing was run: no answer within {patience:g} s from {silent}") from None
            if message.kind == GONE:
                session.gone = True
                failed.append((f"{session}: {message.data['why'] or session.why_gone()}", False))
            elif message.kind == "failed":
                failed.append((f"{session}: {message.data['why']}", bool(message.data["bad_input"])))
            elif message.kind == kind:
                found[session] = message
            else:
                continue
            if session in waiting:
                waiting.remove(session)
        if failed:
            error = BadInput if all(bad for _, bad in failed) else TestbedError
            raise error("nothing was run\n  " + "\n  ".join(text for text, _ in failed))
        return {session: found[session] for session in self.sessions if session in found}

    # -- meanwhile ------------------------------------------------------------------------------------------------

    def hear(self, until: float) -> None:
        """Take what comes until a moment of the monotonic clock; `lost` says if a host has gone."""
        while True:
            self._word()
            try:
                session, message = self.inbox.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                self._miss_the_silent()  # now, with nothing unread: it may have been us who were late
                return
            self._heard[session] = time.monotonic()
            if message.kind == GONE:
                why = message.data["why"] or session.why_gone()
                if not session.gone:
                    self._lose(session, "the control channel was lost", why)
                session.gone = True
            elif message.kind == "failed":
                self._lose(session, "the agent failed", message.data["why"])
            elif message.kind == "ended":
                self._ended.add(session)
                if message.data["failure"]:
                    self._lose(session, "the agent died", message.data["failure"])
            elif message.kind in ("status", "record"):
                try:
                    self.overview.mirrors[self.sessions.index(session)].take(message)
                except TestbedError as error:
                    self._lose(session, "the control channel was lost", str(error))

    def _lose(self, session: Session, what: str, why: str) -> None:
        self.lost = self.lost or f"{session}: {what}: {why}"

    def _word(self) -> None:
        now = time.monotonic()
        if now >= self._next_word:
            self._next_word = now + ALIVE_SECONDS
            for session in self.sessions:
                session.say("alive")

    def _miss_the_silent(self) -> None:
        now = time.monotonic()
        for session, heard in self._heard.items():
            if now - heard > PATIENCE and session not in self._ended and not session.gone:
                session.gone = True
                self._lose(session, "the control channel was lost", f"nothing was heard for {PATIENCE:g} s")

    def finished(self) -> bool:
        """Whether all hosts have ended."""
        return len(self._ended) == len(self.sessions)

    # -- afterwards -----------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """No more packets."""
        for session in self.sessions:
            session.say("stop")

    def gather(self) -> None:
        """Take everything from those that are still there."""
        self.hear(time.monotonic() + DRAIN_SECONDS)
        asked = [session for session in self.sessions if not session.gone]
        for session in asked:
            session.say("gather")
        deadline = time.monotonic() + GATHER_SECONDS
        mirrors = dict(zip(self.sessions, self.overview.mirrors, strict=True))
        while any(not mirrors[one].final and not one.gone for one in asked) and time.monotonic() < deadline:
            self.hear(time.monotonic() + LOOK_SECONDS)
        for one in asked:
            if not mirrors[one].final:
                self._lose(one, "the control channel was lost", "it gave no record of what it had counted")

    def leave(self) -> None:
        """Have all take their programs away; `differs` says what is not as it was, and who did not answer."""
        waiting = [session for session in self.sessions if not session.gone]
        for session in waiting:
            session.say("leave")
        deadline = time.monotonic() + PATIENCE
        while waiting and time.monotonic() < deadline:
            try:
                session, message = self.inbox.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                continue
            session.gone |= message.kind == GONE
            if session not in waiting or message.kind not in ("left", "failed", GONE):
                continue
            waiting.remove(session)
            if message.kind == "left":
                self.differs += [f"{session}: {one}" for one in message.data["differs"]]
            else:
                why = message.data["why"] or session.why_gone()
                self.differs.append(f"{session}: it did not say that it took its programs away: {why}")
        silent = f"it did not say within {PATIENCE:g} s that it took its programs away"
        self.differs += [f"{session}: {silent}" for session in waiting]
