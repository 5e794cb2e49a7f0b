"""`testbed switch` on a box with real interfaces, real packets, and the rack's port program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from testbed.base import linux
from testbed.cli.main import main
from testbed.engines.lab.host.interface import Interface
from testbed.engines.lab.switch import pins
from testbed.engines.lab.switch.pinned import PinnedSwitch
from testbed.registry import find
from testbed.tuning.loop import Tuning
from tests.emulated_lab.lab import Lab
from tests.support.switch_traffic import PACKETS, arrivals, namespace

pytestmark = [pytest.mark.root, pytest.mark.parallel]
BUFFER = 5_000_000
Command = Callable[..., tuple[int, str, str]]
Switch = Callable[..., dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Its machine room has attached the ports by the command, as an operator does."""
    with Lab(cards=["cx7", "bf2"], switches=["testbed"]) as made:
        yield made


@pytest.fixture
def command(lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """Run ``testbed switch`` (exit code, stdout, stderr) where the switch is: only files are this machine's."""
    monkeypatch.setattr(pins, "BPFFS", lab.switches[0].root / "sys/fs/bpf")
    netns = namespace(lab.switches[0])

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["testbed", "switch", *words])
        try:
            code = main()
        except SystemExit as end:
            code = int(end.code or 0)
        return code, *capsys.readouterr()

    with linux.inside(netns):
        yield run
    os.close(netns)


@pytest.fixture
def switch(command: Command) -> Switch:
    """The same, which goes well: what it prints, by port."""

    def run(*words: str) -> dict[str, dict[str, Any]]:
        code, out, err = command(*words, "--format", "json")
        assert (code, err) == (0, "")
        return {port["name"]: port for port in json.loads(out)["ports"]}

    return run


def thresholds(port: dict[str, Any]) -> tuple[float, ...]:
    return port["kmin"], port["kmax"], port["pmax"]


def test_packets_are_marked_above_the_thresholds_that_were_set(lab: Lab, switch: Switch) -> None:
    sender, receiver = lab.hosts
    before = switch("show")["swp2"]
    assert (before["rate"], before["buffer"], thresholds(before)) == (20e6, BUFFER, (BUFFER, BUFFER, 0))
    assert arrivals(sender, receiver) == (PACKETS, 0)
    found = switch("set", "swp2", "--kmin", "100 kB", "--kmax", "400 kB", "--pmax", "20 %")
    assert thresholds(found["swp2"]) == (100_000, 400_000, 0.2)
    assert thresholds(found["swp1"]) == thresholds(before)
    arrived, marked = arrivals(sender, receiver)
    after = switch("show")["swp2"]
    assert arrived == PACKETS
    assert after["peak_queue"] > 400_000
    assert PACKETS / 4 < marked == after["marked_packets"]
    assert after["tx_packets"] - before["tx_packets"] >= 2 * PACKETS
    assert arrivals(receiver, sender) == (PACKETS, 0)  # the other port has thresholds of its own
    kept = switch("set", "--kmin", "400 kB")  # one value, on all ports
    assert [thresholds(one) for one in kept.values()] == [(400_000, BUFFER, 0), (400_000, 400_000, 0.2)]
    assert thresholds(switch("set", "--kmin", "5 MB", "--kmax", "5 MB")["swp2"]) == (BUFFER, BUFFER, 0.2)
    assert arrivals(sender, receiver) == (PACKETS, 0)


def test_bad_input_is_one_message_and_changes_nothing(command: Command, switch: Switch) -> None:
    before = [thresholds(one) for one in switch("show").values()]
    refused = {
        ("set", "swp1", "--kmin", "2 MB", "--kmax", "1 MB"): "port swp1 breaks 0 <= Kmin <= Kmax: Kmin 2e+06 B",
        ("set", "--kmax", "6 MB"): "port swp1 breaks Kmax <= buffer",
        ("set", "--pmax", "101 %"): "breaks 0 <= Pmax <= 1",
        ("set", "--kmin", "100"): "--kmin: '100' has no unit for a size",
        ("set", "swp9", "--pmax", "1 %"): "swp9 is no port of this switch; did you mean",
        ("set",): "nothing to set; give --kmin, --kmax or --pmax",
        ("detach", "swp1", "eth0"): "eth0 is no port of this switch",
    }
    refused[("attach", "swp1", "eth9", "--rate", "1 kbit/s")] = (
        "a port's rate is from 100 kbit/s to 10 Gbit/s, not 1 kbit/s; swp1: it is a port already; "
        "testbed switch detach swp1; there is no interface eth9"
    )
    for words, said in refused.items():
        code, out, err = command(*words)
        assert (code, out) == (2, "")
        assert said in err
        assert len(err.splitlines()) == 1
    assert [thresholds(one) for one in switch("show").values()] == before


def test_a_tuner_of_the_rack_meets_it_as_any_other_switch(lab: Lab, switch: Switch) -> None:
    """The class `static`, unchanged: its thresholds are in force, others' are seen, and it changes them in time."""
    sender, receiver = lab.hosts
    plugin = find("tuner", "static")
    start = {"kmin": "50 kB", "kmax": "100 kB", "pmax": 1.0}
    config = plugin.form.Config(**start, at=[{"time": "1 s", "kmin": "5 MB", "kmax": "5 MB"}])
    own = PinnedSwitch()

    def kmin() -> list[float]:
        found: list[float] = own.sample(time.monotonic_ns())["kmin"].tolist()
        return found

    before = own.sample(time.monotonic_ns())["marked_bytes"][1]
    tuning = Tuning(plugin, config, own, own.ports(base_rtt=10e-6))
    assert thresholds(switch("show")["swp2"]) == (50_000, 100_000, 1)
    tuning.step(0.0, time.monotonic_ns())
    _, marked = arrivals(sender, receiver)
    assert marked > PACKETS / 2
    assert own.sample(time.monotonic_ns())["marked_bytes"][1] - before > marked * 1000
    switch("set", "swp1", "--kmin", "60 kB")
    assert kmin() == [60_000, 50_000]
    tuning.step(0.5, time.monotonic_ns())
    assert kmin() == [50_000, 50_000]
    tuning.step(1.0, time.monotonic_ns())
    assert thresholds(switch("show")["swp2"]) == (BUFFER, BUFFER, 1)


def test_a_host_that_boots_again_gets_its_port_again(lab: Lab, switch: Switch) -> None:
    lab.power_off("lab1")
    assert list(switch("show")) == ["swp2"]
    lab.power_on("lab1")
    assert sorted(switch("show")) == ["swp1", "swp2"]
    assert len(list(pins.default_folder().glob(f"{pins.PORT}*"))) == 2


def test_after_detach_nothing_is_left(lab: Lab, command: Command, switch: Switch) -> None:
    box, own = lab.switches[0], pins.default_folder()
    assert own.stat().st_mode & 0o777 == 0o700
    assert [len(one.programs[1]) for one in states()] == [1, 1]
    assert list(switch("detach", "swp1", "swp1")) == ["swp2"]
    assert switch("detach") == {}
    assert not own.exists()
    assert [(one.programs, one.qdiscs) for one in states()] == [(((), ()), ("noqueue 0 at ffffffff",))] * 2
    for words in (("show",), ("set", "--pmax", "1 %"), ("detach",)):
        code, out, err = command(*words)
        assert (code, out) == (2, "")
        assert err.startswith("testbed: no port here is a testbed switch's; make it one: testbed switch attach")
    tbf = ("root", "handle", "5:", "tbf", "rate", "1gbit", "burst", "9k", "limit", "1m")
    box.run(["tc", "qdisc", "add", "dev", "swp2", *tbf])
    code, _, err = command("attach", "swp1", "swp2", "--rate", "1 Gbit/s")
    assert code == 2
    assert "swp2: it has a queue of its own, tbf; take it away: tc qdisc del dev swp2 root" in err
    assert not own.exists()


BOX = """
while umount /sys/fs/bpf 2>/dev/null; do :; done
ip link add swp1 type veth peer name swp2
says() {
  python -c "
from testbed.engines.kernel import doctor as d, features as f
print(*d.as_lines([d.Probe('switch', *d._switch(f.ask()[f.TCX]))]))" | sed -n 's/  *switch  */: /p'
}
says
testbed switch attach swp1 --rate "1 Gbit/s" >/dev/null
testbed switch attach swp2 --rate "1 Gbit/s" >/dev/null
says
testbed switch detach swp1 >/dev/null
mountpoint -q /sys/fs/bpf
testbed switch detach
! mountpoint -q /sys/fs/bpf
mount -t tmpfs none /sys/fs
says
testbed switch attach swp1 --rate "1 Gbit/s"
"""


def test_a_box_without_bpffs_gets_it_for_as_long_as_there_are_ports() -> None:
    path = f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}"
    box = ["unshare", "--mount", "--net", "sh", "-e", "-c", BOX]
    done = subprocess.run(box, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path})
    assert done.stdout.splitlines() == [
        "ok: testbed switch attach mounts /sys/fs/bpf",
        "ok: /sys/fs/bpf is mounted",
        "optional: testbed switch needs /sys/fs/bpf, which is not there (run: mount -t sysfs sysfs /sys)",
    ], done.stderr
    assert done.stderr.startswith("testbed: a switch needs bpffs at /sys/fs/bpf: ")
    assert len(done.stderr.splitlines()) == 1
    assert done.returncode == 1


def states() -> list[Any]:
    return [Interface(name).state() for name in ("swp1", "swp2")]


def test_without_root_it_says_how(lab: Lab) -> None:
    done = lab.switches[0].run(["setpriv", "--reuid=65534", "testbed", "switch", "show"], check=False)
    said = "testbed: a switch needs root; run it with sudo: sudo testbed switch ...\n"
    assert (done.returncode, done.stderr) == (1, said)
