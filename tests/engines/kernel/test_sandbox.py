"""The sandbox: what happens inside stays inside, but for what it has to say."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from pyroute2 import IPRoute

from testbed.base import linux
from testbed.engines.kernel.sandbox import Sandbox
from testbed.errors import BadInput, PluginFailed, TestbedError

pytestmark = [pytest.mark.root, pytest.mark.parallel]


def heard(work: Callable[[Connection], None]) -> list[object]:
    """All messages of a sandbox that does ``work``."""
    sandbox = Sandbox(work)
    try:
        return list(sandbox.messages())
    finally:
        sandbox.kill()


def test_messages_arrive_in_order() -> None:
    def work(connection: Connection) -> None:
        for number in range(3):
            connection.send(("number", number))

    assert heard(work) == [("number", 0), ("number", 1), ("number", 2)]


@pytest.mark.parametrize("kind", [TestbedError, BadInput, PluginFailed])
def test_an_error_for_the_user_arrives_as_it_is(kind: type[TestbedError]) -> None:
    def work(_connection: Connection) -> None:
        raise kind("use another one")

    with pytest.raises(kind, match=r"^use another one$"):
        heard(work)


def test_a_bug_arrives_with_its_traceback() -> None:
    def work(_connection: Connection) -> None:
        {}["missing"]

    with pytest.raises(TestbedError, match=r"(?s)this is a bug in testbed.*in work.*KeyError: 'missing'"):
        heard(work)


class Unpicklable(Exception):
    def __reduce__(self) -> str:
        raise TypeError("not me")


def test_an_exception_that_cannot_travel_is_described() -> None:
    def work(_connection: Connection) -> None:
        raise Unpicklable("odd")

    with pytest.raises(TestbedError, match=r"(?s)bug in testbed.*Unpicklable: odd"):
        heard(work)


def test_leaving_is_not_finishing() -> None:
    def work(_connection: Connection) -> None:
        os._exit(0)

    with pytest.raises(TestbedError, match="died"):
        heard(work)


def test_death_of_the_first_process_is_reported() -> None:
    def work(connection: Connection) -> None:
        connection.send(("ready", None))
        connection.recv()

    sandbox = Sandbox(work)
    messages = sandbox.messages()
    assert next(messages) == ("ready", None)
    (inner,) = Path(f"/proc/{sandbox.pid}/task/{sandbox.pid}/children").read_text().split()
    os.kill(int(inner), signal.SIGKILL)
    with pytest.raises(TestbedError, match=r"the run's process died \(exit code 137\)"):
        next(messages)
    sandbox.kill()


def test_death_of_the_outer_process_ends_the_inner_one() -> None:
    def work(connection: Connection) -> None:
        connection.send(("ready", None))
        if os.fork() == 0:
            signal.pause()
        connection.recv()

    sandbox = Sandbox(work)
    messages = sandbox.messages()
    assert next(messages) == ("ready", None)
    os.kill(sandbox.pid, signal.SIGKILL)
    with pytest.raises(TestbedError, match=r"died \(signal 9\)"):
        next(messages)
    sandbox.kill()  # what is left of it is counted by `conftest.leaves_nothing`


def test_it_can_be_asked_to_stop() -> None:
    def work(connection: Connection) -> None:
        connection.send(("ready", None))
        connection.send(("asked", connection.recv()))

    sandbox = Sandbox(work)
    messages = sandbox.messages()
    assert next(messages) == ("ready", None)
    sandbox.ask_to_stop("Ctrl-C")
    assert list(messages) == [("asked", "Ctrl-C")]
    sandbox.kill()
    sandbox.kill()  # once is enough, twice does no harm


def test_namespaces_are_private() -> None:
    mark = "tb-was-here"

    def work(connection: Connection) -> None:
        spaces = {kind: str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in ("net", "mnt", "pid")}
        with IPRoute() as ip:
            links = [link.get_attr("IFLA_IFNAME") for link in ip.get_links()]
            ip.link("add", ifname=mark, kind="bridge")
        linux.mount("none", "/mnt", "tmpfs")
        Path("/mnt", mark).touch()
        processes = sorted(int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())
        connection.send(
            ("found", (spaces, links, processes, os.getpid(), {pin.name for pin in Path("/sys/fs/bpf").iterdir()}))
        )

    ((_, (spaces, links, processes, pid, pins)),) = heard(work)  # type: ignore[misc]
    for kind, space in spaces.items():
        assert space != str(Path(f"/proc/self/ns/{kind}").readlink())
    assert links == ["lo"]
    assert (processes, pid) == ([1], 1)
    assert pins <= {"maps.debug", "progs.debug"}  # the kernel puts these into every new one
    assert not Path("/mnt", mark).exists()
    with IPRoute() as ip:
        assert not ip.link_lookup(ifname=mark)


def test_printing_inside_does_not_disturb_results(capfd: pytest.CaptureFixture[str]) -> None:
    def work(_connection: Connection) -> None:
        print("from python", flush=True)
        os.write(1, b"from below\n")

    heard(work)
    out, err = capfd.readouterr()
    assert out == ""
    assert "from python" in err
    assert "from below" in err
