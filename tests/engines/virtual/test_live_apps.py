"""Apps with `--engine live`: their packets pass the simulated ports, which treat them as those of the kernel's rack."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from testbed.capture.reader import Frame, Reader
from tests.support.apps import experiment, round_trips
from tests.support.outside import children, run, start, summary_in
from tests.support.packets import checksum
from tests.support.runs import UNDRAWN

pytestmark = [pytest.mark.root, pytest.mark.parallel]
LIVE = ("--engine", "live", *UNDRAWN, "--set", "record.decisions=0", "--metrics-addr", "none")
LATE = {"pacing lag", "packets of apps waiting", "TCP timeouts"}  # on a busy machine
TCP, UDP, ETHERNET, IPV4 = 6, 17, 14, 20


def judged(summary: dict[str, Any]) -> set[str]:
    return {one["what"].partition(" at ")[0] for one in summary["verdict"]["reasons"]}


def figures(summary: dict[str, Any], app: str) -> dict[str, float]:
    (found,) = (one["figures"] for one in summary["apps"] if one["app"] == app)
    return {one["name"]: one["value"] for one in found}


def payload(frame: Frame) -> int:
    """Bytes of TCP's, which must be there."""
    assert len(frame.data) == frame.length
    length, header = int.from_bytes(frame.data[16:18], "big"), (frame.data[ETHERNET + IPV4 + 12] >> 4) * 4
    return length - IPV4 - header


def hold_up(folder: Path, file: str, seconds: float) -> None:
    """Run it, but for half of the time, for so long at once."""
    process = start(folder, "run", file, *LIVE)
    process.read_until("running ")
    (running,) = children(process.pid)
    with suppress(ProcessLookupError):  # it has ended
        while True:
            for what in (signal.SIGSTOP, signal.SIGCONT):
                os.kill(running, what)
                time.sleep(seconds)
    assert process.wait() in (0, 3), process.communicate()


@pytest.mark.skipif(not shutil.which("iperf3") or not shutil.which("nstat"), reason="needs iperf3 and nstat")
def test_tcp_beside_roce_is_marked_counted_and_captured(tmp_path: Path) -> None:
    """What its receiver's kernel and the flows count as CE is what the port has marked; and the run ends with them."""
    file = experiment(
        tmp_path,
        """
rack: { hosts: 4 }
traffic:
  pattern: flows
  flows: [{ src: h1, dst: h4, size: 20 MB, start: 10 ms }, { src: h2, dst: h4, size: 20 MB, start: 10 ms }]
controller: dcqcn
tuner: { name: static, kmin: 2 kB, kmax: 100 kB, pmax: 50 % }
apps:
  - { name: server, hosts: [h4], run: sysctl -qw net.ipv4.tcp_ecn=1; exec iperf3 -s, ready: { port: 5201 } }
  - name: nstat
    hosts: [h4]
    run: echo counts; trap 'nstat -asz IpExtInCEPkts; exit 0' TERM; while :; do sleep 0.1; done
    ready: { prints: counts }
    figures: [{ name: ce, pattern: "InCEPkts +([0-9]+)" }]
  - { name: tcp, hosts: [h3], run: sysctl -qw net.ipv4.tcp_ecn=1; exec iperf3 -c h4 -t 2 -b 100M -J, reads: iperf3 }
time: { duration: 200 ms, dilation: 100, warmup: 0 }
""",
    )
    done = run(tmp_path, "run", file, *LIVE, "--pcap", "nic:h3")
    assert done.returncode in (0, 3), done.stderr
    summary, out = summary_in(tmp_path), tmp_path / "out"
    assert judged(summary) <= LATE
    assert summary["duration"] < 0.15
    flows = parquet.read_table(out / "flows.parquet").to_pydict()
    ports = parquet.read_table(out / "port_series.parquet").to_pydict()
    marked = max(count for port, count in zip(ports["port"], ports["marked_packets"], strict=True) if port == "s1-eth4")
    by_tcp = figures(summary, "nstat")["ce"]
    assert by_tcp > 0
    assert sum(flows["ce_packets"]) > 0
    assert marked == by_tcp + sum(flows["ce_packets"])
    frames = [one for one in Reader(out / "nic-h3.pcapng") if one.data[ETHERNET + 9] == TCP]
    assert sum(payload(one) for one in frames if one.direction == "out") > 5e6
    assert summary["tcp"]["sent"] > 0


def test_a_host_sends_and_gets_packets_as_by_a_nic(tmp_path: Path) -> None:
    """Its kernel sends much of TCP, or several datagrams, at once, without checksums; on the wire there are packets."""
    data = "import hashlib, random, socket; data = random.Random(1).randbytes(3_000_000); s = socket.socket()"
    file = experiment(
        tmp_path,
        f"""
rack: {{ hosts: 2 }}
apps:
  - name: server
    hosts: [h1]
    run: |
      exec $TESTBED_PYTHON -u - <<'END'
      {data}
      s.bind(("", 80))
      s.listen()
      print("ready")
      there, _ = s.accept()
      there.sendall(data)
      there.shutdown(socket.SHUT_WR)
      u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      u.setsockopt(socket.IPPROTO_UDP, 103, 1001)  # UDP_SEGMENT
      u.sendto(data[:5000], ("h2", 7))
      there.recv(1)
      END
    ready: {{ prints: ready }}
  - name: client
    hosts: [h2]
    run: |
      exec $TESTBED_PYTHON - <<'END'
      {data}
      u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      u.bind(("", 7))
      s.connect(("h1", 80))
      got = s.makefile("rb").read()
      datagrams = [u.recv(9000) for _ in range(5)]
      s.send(b".")
      print("whole" if got == data and b"".join(datagrams) == data[:5000] else "damaged", *map(len, datagrams))
      END
    exit: 0
time: {{ duration: 20 ms, dilation: 200 }}
""",
    )
    done = run(tmp_path, "run", file, *LIVE, "--pcap", "nic:h1")
    assert done.returncode in (0, 3), done.stderr
    assert (tmp_path / "out" / "apps" / "client.out").read_text().split() == ["whole", *["1001"] * 4, "996"]
    frames = [one.data for one in Reader(tmp_path / "out" / "nic-h1.pcapng") if one.direction == "out"]
    of_tcp, of_udp = ([one for one in frames if one[ETHERNET + 9] == kind] for kind in (TCP, UDP))
    assert [len(one) - ETHERNET - IPV4 - 8 for one in of_udp] == [1001] * 4 + [996]
    assert len(of_tcp) > 3e6 / 1448
    assert max(map(len, of_tcp)) == 1514
    for one in frames:
        assert checksum(one[ETHERNET : ETHERNET + IPV4]) == 0
        addresses, rest = one[ETHERNET + 12 : ETHERNET + IPV4], one[ETHERNET + IPV4 :]
        assert checksum(addresses + struct.pack(">HH", one[ETHERNET + 9], len(rest)) + rest) == 0


def test_a_nic_interrupts_its_host_for_what_came_in_eight_microseconds(tmp_path: Path) -> None:
    """16 ms of wall time here: datagrams that are sent every millisecond come in heaps, by the kernel's time stamps."""
    file = experiment(
        tmp_path,
        """
rack: { hosts: 2 }
apps:
  - name: receiver
    hosts: [h2]
    run: |
      exec $TESTBED_PYTHON -u - <<'END'
      import socket, struct
      u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      u.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
      u.bind(("", 7))
      print("ready")
      stamps = [struct.unpack("qq", u.recvmsg(9, 99)[1][0][2]) for _ in range(200)]
      times = [seconds + ns / 1e9 for seconds, ns in stamps]
      heaps = 1 + sum(then - now > 0.004 for now, then in zip(times, times[1:]))
      print(f"heaps {heaps} in {times[-1] - times[0]} s")
      END
    ready: { prints: ready }
    exit: 0
  - name: sender
    hosts: [h1]
    run: |
      exec $TESTBED_PYTHON - <<'END'
      import socket, time
      u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      for _ in range(200): time.sleep(0.001) or u.sendto(b".", ("h2", 7))
      END
    exit: 0
time: { duration: 10 ms, dilation: 2000, warmup: 0 }
""",
    )
    done = run(tmp_path, "run", file, *LIVE)
    assert done.returncode in (0, 3), done.stderr
    _, heaps, _, seconds, _ = (tmp_path / "out" / "apps" / "receiver.out").read_text().split("\n")[1].split()
    assert 1 < int(heaps) <= float(seconds) / 0.016 + 2


def test_apps_alone_end_the_run_and_leave_nothing(tmp_path: Path) -> None:
    """In a routed rack, where nobody sends RoCE. Before it begins they reach each other without the rack."""
    file = experiment(
        tmp_path,
        """
rack: { kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1 }
apps:
  - name: server
    hosts: [h1]
    run: $TESTBED_PYTHON -m http.server 8000 --directory /etc & sleep 1000
    ready: { port: 8000 }
  - name: early
    hosts: [h2]
    run: |
      $TESTBED_PYTHON -c "import urllib.request as u; print(u.urlopen('http://h1:8000/hosts').status)"; sleep 1000
    ready: { prints: "200" }
  - name: client
    hosts: [h2]
    exit: 0
    run: |
      hostname; pwd
      $TESTBED_PYTHON -c "import urllib.request as u; print(u.urlopen('http://h1:8000/hosts').read().decode())"
time: { duration: 2 s, dilation: 50 }
""",
    )
    done = run(tmp_path, "run", file, *LIVE)
    assert done.returncode in (0, 3), done.stderr
    printed = (tmp_path / "out" / "apps" / "client.out").read_text().split("\n", 2)
    assert printed[:2] == ["h2", "/media"]
    assert "10.1.0.1 h1" in printed[2]
    summary = summary_in(tmp_path)
    assert judged(summary) <= {*LATE, "empty measurement window"}
    assert summary["duration"] < 1


def test_a_run_that_was_held_up_is_late_for_apps_but_never_too_early(tmp_path: Path) -> None:
    """Packets that apps send while it catches up, in no time, meet the delays of their path as all others do."""
    rack = "traffic: { pattern: incast, senders: 8, size: 2 MB }\ncontroller: dcqcn\n"
    spans = "time: { duration: 200 ms, dilation: 1000, warmup: 0 }\n"  # it ends with the app
    until_held_up_twice = "while sum(one > 0.1 for one in took) < 2"
    file = experiment(tmp_path, f"{rack}{round_trips(until_held_up_twice)}{spans}")
    hold_up(tmp_path, file, 0.2)
    rtt = figures(summary_in(tmp_path), "ask")
    assert rtt["longest"] > 100e-6
    assert rtt["shortest"] > 8e-6  # of an empty rack, there and back


@pytest.mark.measures
def test_the_links_of_apps_make_up_for_interruptions(tmp_path: Path) -> None:
    """The run is ahead by their delay, 0.2 s of wall time here, and apps get nothing before it is due all the same."""
    rack = "rack: { hosts: 3, link: { delay: 1 ms } }\n"
    flows = "traffic: { pattern: flows, flows: [{ src: h2, dst: h3, size: 150 MB }] }\ncontroller: fixed\n"
    spans = "time: { duration: 200 ms, dilation: 200, warmup: 0 }\n"  # it ends with the app
    file = experiment(tmp_path, f"{rack}{flows}{round_trips('while len(took) < 4')}{spans}")
    hold_up(tmp_path, file, 0.1)
    summary = summary_in(tmp_path)
    assert figures(summary, "ask")["shortest"] > 4e-3
    assert summary["pacing_lag_p99"] * 200 < 0.05
