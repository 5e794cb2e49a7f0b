"""A real Prometheus scrapes a real run: every query of every panel returns data, and the data are right."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from testbed.live.lab_names import OWN
from tests.live.monitor.boards import INTERVALS, NAMES, Shown, filled, queries
from tests.support import host_tree as tree
from tests.support.commands import command
from tests.support.failing import GOOD_THRESHOLDS, TUNER, plugin
from tests.support.monitoring import TESTBED, Prometheus, free_ports, monitor_up, running, wait_for
from tests.support.runs import ATTEMPTS, UNDRAWN
from tests.support.waiting import PATIENCE, until

pytestmark = [
    pytest.mark.root,
    pytest.mark.parallel,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs Prometheus: apt-get install prometheus"),
]

DURATION, DILATION = 0.005, 2000  # nominal s: 10 s of wall time
SETTLED = 0.8 * DURATION  # after the first burst and before the end
LINE_RATE = 100e9  # bit/s
PAYLOAD = 1000 / 1122  # of a packet with INT, on the wire


INCAST_AND_JOB = """\
rack: {hosts: 9}
controller: hpcc
traffic:
  pattern: mix
  parts: [{pattern: incast, senders: 8}, {pattern: allreduce, ranks: 3, size: 30 kB, iterations: 2}]
"""


TWO_QUEUES = """\
rack: {hosts: 3, switch: {classes: {data: {dscp: 26, queue: 3}, answers: {dscp: [0, 48], queue: 7}}}}
controller: dcqcn
engine: virtual
traffic: {pattern: incast, senders: 2, dscp: 26}
"""
UNHURRIED = "__import__('time').sleep(0.05)"  # it goes on for as long as somebody looks, and takes no core


@dataclass
class Scraped(Shown):
    """A run that was scraped from start to end, and a moment in it when everything had settled."""

    host: str  # instance of a lab host's exporter
    queues: str  # instance of a run whose ports have two queues


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scraped]:
    folder = tmp_path_factory.mktemp("monitor")
    prometheus_port, grafana_port, *others = free_ports(5)
    instance, host, queues = (f"127.0.0.1:{port}" for port in others)
    ports = ["--prometheus-port", str(prometheus_port), "--grafana-port", str(grafana_port)]
    targets = ["--target", instance, "--target", host, "--target", queues]
    with (
        running(monitor_up("--dir", folder / "state", *targets, *ports)),
        running(_exporter(folder, host)),
        running(_with_queues(folder, queues)),
    ):
        prometheus = Prometheus(prometheus_port)
        wait_for(f"{prometheus.url}/-/ready")
        until(lambda: prometheus.query(f'testbed_queue_tx_bytes_total{{instance="{queues}"}}', time.time()), every=1)
        moments = (_settled(prometheus, folder / f"run-{attempt}", instance, queues) for attempt in range(ATTEMPTS))
        moment = next(filter(None, moments), None)
        assert moment, f"{ATTEMPTS} runs, and none was calibrated and scraped while packets flowed"
        yield Scraped(prometheus, instance, moment, "h8-h9", host, queues)


def _exporter(folder: Path, address: str) -> subprocess.Popen[str]:
    """Of a lab host of plain files, with a rollout and a setting that is adrift."""
    root = tree.plant(folder / "host")
    tree.roll_out(root, **{"roce_rp/rpg_ai_rate": "40"})
    tree.registers(root, age=-60)  # as young as a run is long
    tree.every_counter(root)
    tree.put(root, f"{tree.SYSFS}/roce_rp/rpg_gd", "cannot be read")
    environment = {**os.environ, "PATH": f"{tree.tools(folder / 'tools')}:{os.environ['PATH']}"}
    arguments = [*TESTBED, "exporter", "--listen", address, "--root", str(root)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def _with_queues(folder: Path, address: str) -> subprocess.Popen[str]:
    (file := folder / "queues.yaml").write_text(TWO_QUEUES)
    tuner, _ = plugin(folder, TUNER, initial=GOOD_THRESHOLDS, slot=UNHURRIED)
    options = [
        "--tuner",
        str(tuner),
        "--duration",
        "1 s",
        "--metrics-addr",
        address,
        "--out",
        str(folder / "queues"),
        *UNDRAWN,
    ]
    return subprocess.Popen(
        [*TESTBED, "run", str(file), *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def _settled(prometheus: Prometheus, folder: Path, instance: str, beside: str) -> float | None:
    """Run, and say when everything had settled while the run ``beside`` went on; None where a busy machine failed the
    calibration or the scrapes.

    HPCC sets rate and window, its first burst exceeds Kmin, PET tells reward and state, a job is done before all has
    settled: no panel lacks a cause.
    """
    (file := folder.with_suffix(".yaml")).write_text(INCAST_AND_JOB)
    options = ["--tuner", "pet", "--set", "tuner.online=true", "--duration", f"{DURATION * 1e3:g} ms"]
    options += ["--metrics-addr", instance, "--dilation", str(DILATION), *UNDRAWN]
    begin = time.time()
    done = command("run", str(file), *options, "--out", str(folder), timeout=PATIENCE)
    end = time.time()
    if done.returncode not in (0, 3):
        return None
    this = f'{{instance="{instance}"}}'  # others may run on this machine
    passed, interval = f"testbed_nominal_time_seconds{this}", INTERVALS["__rate_interval"]
    flowing = f"(sum by (instance) (rate(testbed_flow_acked_bytes_total{this}[{interval}])) > 0)"
    # What was there before the interval: a rate from the first scrape on is a guess.
    asked = " and on (instance) ".join((passed, flowing, f"{passed} offset {interval}"))
    asked += f' and on () (rate(testbed_nominal_time_seconds{{instance="{beside}"}}[{interval}]) > 0)'
    found = prometheus.api("query_range", query=asked, start=begin, end=end, step=1)["result"]
    moments = [float(at) for series in found for at, value in series["values"] if 0 < float(value) < SETTLED]
    return moments[-1] if moments else None


def test_every_query_of_every_panel_returns_data(scraped: Scraped) -> None:
    values = {name: scraped.chosen(name) for name in NAMES}
    empty = []
    for asked in queries():
        chosen = values[asked.board]
        if "testbed_queue_" in asked.expression:
            chosen = {**chosen, "instance": scraped.queues, "port": ".*"}
        if any(one.asked in asked.expression for one in OWN):
            chosen = {**chosen, "instance": scraped.host}
        series = scraped.prometheus.query(filled(asked.expression, chosen), scraped.moment)
        if not any(math.isfinite(float(one["value"][1])) for one in series):
            empty.append(str(asked))
    assert not empty, "no data for:\n" + "\n".join(empty)


def test_queues_are_told_by_their_class(scraped: Scraped) -> None:
    chosen = {**scraped.chosen("rack"), "instance": scraped.queues, "port": "s1-eth3"}
    (asked, *_) = [one for one in queries() if "testbed_queue_tx_bytes_total" in one.expression]
    found = scraped.prometheus.query(filled(asked.expression, chosen), scraped.moment)
    rates = {one["metric"]["class"]: float(one["value"][1]) for one in found}
    assert rates.keys() == {"data", "answers"}
    assert 0 == rates["answers"] < rates["data"] < 1.05 * LINE_RATE


def test_rates_are_those_of_the_emulated_rack(scraped: Scraped) -> None:
    """An incast fills the bottleneck: 100 Gbit/s nominal, although 50 Mbit/s go over the wire.

    A busy machine stops for a second of the few that a rate is of: what it sent is acknowledged after that.
    """
    used = max(_values(scraped, "rack", "Utilisation"))
    goodput = sum(_values(scraped, "rack", "Goodput"))
    assert 0.05 < used < 1.05  # whatever the machine does: counted over the run's own time
    assert 1 / 3 < goodput / (PAYLOAD * used * LINE_RATE) < 3
    jain, *_ = _values(scraped, "rack", "Fairness")
    assert 1 / 8 <= jain <= 1 + 1e-9
    assert _values(scraped, "flow", "Goodput and rate")[0] < LINE_RATE


def test_the_tuner_shows_the_bottleneck_unasked(scraped: Scraped) -> None:
    assert scraped.chosen("tuner")["port"] == "s1-eth9"  # the ninth host is the one all others send to


def _values(scraped: Scraped, board: str, title: str) -> list[float]:
    """All that a panel of curves shows."""
    chosen = scraped.chosen(board)
    wanted = [one for one in queries() if (one.board, one.panel["title"]) == (board, title)]
    answers = [scraped.prometheus.query(filled(one.expression, chosen), scraped.moment) for one in wanted]
    return [float(one["value"][1]) for series in answers for one in series]
