"""The live engine: how low a dilation it carries, alone and beside TCP, and TCP's share in it and in the kernel."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from bench import command
from bench.measure import Row, spread

TIMES, MOST = 5, 3  # runs, and how many of them are to be clean
ALONE, BESIDE_TCP, KERNEL = 20, 50, 1000  # dilations
POINTS = 5.0  # by which TCP's share may differ
CONTROLLERS = ("hpcc", "dcqcn")
TCP = """
rack:
  hosts: 66
  switch:
    classes: { rdma: { dscp: 26, queue: 3 }, tcp: { dscp: 0, queue: 0 } }
    queues: { 0: { weight: 1 }, 3: { weight: 1 } }
traffic: { pattern: incast, senders: 64 }
controller: dcqcn
apps:
  - { name: server, hosts: [h65], run: sysctl -qw net.ipv4.tcp_ecn=1; exec iperf3 -s, ready: { port: 5201 } }
  - name: tcp
    hosts: [h66]
    run: |
      sysctl -qw net.ipv4.tcp_ecn=1 net.ipv4.tcp_congestion_control=reno  # whatever paces goes on pacing
      exec iperf3 -c h65 -C cubic -t 0
time: { duration: 20 ms }
"""


def of_wall() -> Iterator[Row]:
    """One flow of iperf3 has a class of its own beside 64 of RoCE, with equal weights."""
    for controller in CONTROLLERS:
        runs = [_run("live", "incast-64", ALONE, controller, "--duration", "30 ms") for _ in range(TIMES)]
        yield _clean(f"incast-64 of {controller}, dilation {ALONE}", runs)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tcp.yaml"
        file.write_text(TCP)
        for controller in CONTROLLERS:
            runs = [_run("live", str(file), BESIDE_TCP, controller) for _ in range(TIMES)]
            yield _clean(f"64 of {controller} beside one of iperf3, dilation {BESIDE_TCP}", runs)
            live, there = [_share(one) for one in runs], _share(_run("kernel", str(file), KERNEL, controller))
            yield Row(
                f"TCP's share beside {controller}, live at {BESIDE_TCP} less kernel at {KERNEL}",
                f"{median(live) - there:+.1f} points", f"within {POINTS:g}", abs(median(live) - there) <= POINTS,
                f"live {spread(live, '.1f')} %, kernel {there:.1f} %", {"live": live, "kernel": [there]},
            )  # fmt: skip


def _run(engine: str, experiment: str, dilation: int, controller: str, *arguments: str) -> dict[str, Any]:
    return command.run(
        experiment, "--engine", engine, "--dilation", f"{dilation}", "--controller", controller,
        "--metrics-addr", "none", "--set", "record.report=false", *arguments,
    )  # fmt: skip


def _clean(what: str, runs: list[dict[str, Any]]) -> Row:
    found = [one["verdict"]["word"] == "clean" for one in runs]
    why = {reason["what"] for one in runs for reason in one["verdict"]["reasons"]}
    said = f"the others: {', '.join(sorted(why))}" if why else ""
    return Row(f"{what}: clean", f"{sum(found)} of {TIMES}", f">= {MOST}", sum(found) >= MOST, said, {"clean": found})


def _share(summary: dict[str, Any]) -> float:
    return next(float(queue["share"]) for queue in summary["queues"] if queue["classes"] == "tcp")
