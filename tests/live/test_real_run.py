"""A real run, seen by Prometheus' eyes and by a reader of events, from outside the sandbox."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer
from testbed.live.scene import Scene
from testbed.results.summary import summarise
from tests.live.scrapes import Samples, one, samples
from tests.live.streams import events
from tests.support.exported import BY_RUNS
from tests.support.runs import UNCALIBRATED, UNDRAWN
from tests.support.simulated import simulated
from tests.support.waiting import PATIENCE

MILLISECONDS = 4
RUN = ("run", "incast-8", "--duration", f"{MILLISECONDS} ms", *UNCALIBRATED, *UNDRAWN)
COMMAND = [sys.executable, "-m", "testbed", *RUN, "--format", "json"]


@dataclass
class Seen:
    """What was seen of one run."""

    summary: dict[str, Any]
    scrapes: list[Samples] = field(default_factory=list)
    events: list[tuple[str, Any]] = field(default_factory=list)


@pytest.fixture(scope="module")
def looks() -> list[Seen]:
    return []


@pytest.fixture
def seen(looks: list[Seen], request: pytest.FixtureRequest, tmp_path: Path) -> Seen:
    """One run for all tests; a test that is tried again looks at another."""
    if not looks or request.node.execution_count > 1:
        looks[:] = [_watched(tmp_path / "out")]
    return looks[0]


def _watched(out: Path) -> Seen:
    command = [*COMMAND, "--metrics-addr", "127.0.0.1:0", "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    assert process.stdout
    url = re.fullmatch(r"metrics: (http://127\.0\.0\.1:\d+)/metrics\n", process.stderr.readline())
    assert url, "the address is the first thing that is said"
    seen = Seen({})
    reader = threading.Thread(target=_read, args=(url[1], seen))
    reader.start()
    while process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url[1]}/metrics", timeout=PATIENCE) as response:
                seen.scrapes.append(samples(response.read().decode()))
        except (OSError, http.client.HTTPException):  # it has just ended
            break
        time.sleep(0.2)
    out_text, said = process.communicate(timeout=PATIENCE)
    reader.join(timeout=PATIENCE)
    assert process.returncode in (0, 3), said
    seen.summary = json.loads(out_text)
    return seen


def _read(url: str, seen: Seen) -> None:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE)
    connection.request("GET", "/live")
    for name, data in events(connection.getresponse()):
        seen.events.append((name, data))


@pytest.mark.root
@pytest.mark.measures
@pytest.mark.alone
def test_metrics_are_there_from_start_to_end(seen: Seen) -> None:
    first, last = seen.scrapes[0], seen.scrapes[-1]
    assert first == {}  # the rack was being built
    present = {name for name, _ in last}
    missing = [one for one in sorted(BY_RUNS) if one not in present and f"{one}_bucket" not in present]
    elsewhere = [one for one in sorted(BY_RUNS) if one.startswith(("testbed_job_", "testbed_queue_"))]
    assert sorted(missing) == sorted([*elsewhere, "testbed_tuner_state_info"])  # no job, one queue, a static tuner
    assert [value for (name, _), value in last.items() if name == "testbed_flow_active_flows"] == [1.0] * 8
    assert 0 < one(last, "testbed_run_warmup_seconds") < MILLISECONDS * 1e-3
    assert one(last, "testbed_nominal_time_seconds") == pytest.approx(MILLISECONDS * 1e-3, abs=0.3e-3)
    info = next(dict(labels) for name, labels in last if name == "testbed_run_info")
    assert info == {"run": "out", "experiment": "incast-8", "controller": "dcqcn", "tuner": "static", "seed": "1"}


@pytest.mark.root
@pytest.mark.measures
@pytest.mark.alone
def test_counters_grow_to_what_the_summary_says(seen: Seen) -> None:
    running = [scrape for scrape in seen.scrapes if ("testbed_port_tx_bytes_total", (("port", "s1-eth9"),)) in scrape]
    sent = [
        sum(one(scrape, "testbed_flow_sent_packets_total", flow=f"h{i}-h9") for i in range(1, 9)) for scrape in running
    ]
    assert sent == sorted(sent)
    assert 0 < sent[0] < sent[-1] <= seen.summary["packets_sent"]
    assert sent[-1] > 0.8 * seen.summary["packets_sent"]  # the last scrape is a moment old
    last = running[-1]
    acked = sum(one(last, "testbed_flow_acked_packets_total", flow=f"h{i}-h9") for i in range(1, 9))
    counted = sum(one(last, "testbed_flow_rtt_seconds_count", flow=f"h{i}-h9") for i in range(1, 9))
    assert counted == pytest.approx(acked, rel=0.01)  # one sample per acknowledgement, but agents go on meanwhile
    packets = one(last, "testbed_port_tx_packets_total", port="s1-eth9")
    found = one(last, "testbed_port_arrival_queue_bytes_count", port="s1-eth9")
    dropped = one(last, "testbed_port_dropped_packets_total", port="s1-eth9")
    assert found == pytest.approx(packets + dropped, rel=0.01)


@pytest.mark.root
@pytest.mark.measures
@pytest.mark.alone
def test_events_tell_the_run_from_scene_to_verdict(seen: Seen) -> None:
    kinds = [name for name, _ in seen.events]
    assert kinds[0] == "stage"
    assert kinds.count("scene") == kinds.count("end") == 1
    assert kinds[-1] == "end"
    updates = [data for name, data in seen.events if name == "update"]
    assert len(updates) >= 3  # how often they come is tested in virtual time
    assert [one["time"] for one in updates] == sorted({one["time"] for one in updates})
    end = seen.events[-1][1]
    assert end["verdict"] == seen.summary["verdict"]["word"]
    assert end["figures"][0]["name"] == "SU"
    assert Path(end["folder"]).name == "out"


@pytest.mark.root
@pytest.mark.measures
@pytest.mark.alone
def test_utilisation_of_the_events_is_that_of_the_summary(seen: Seen) -> None:
    """The mean over the updates of the window: same counter, other borders."""
    scene = next(data for name, data in seen.events if name == "scene")
    port = [port["name"] for port in scene["ports"]].index(scene["bottleneck"])
    updates = [data for name, data in seen.events if name == "update" and data["time"] > scene["warmup"]]
    mean = sum(one["ports"]["utilisation"][port] for one in updates) / len(updates)
    assert 100 * mean == pytest.approx(seen.summary["su"], abs=2.0)
    busiest = max(share for name, data in seen.events if name == "update" for share in data["ports"]["utilisation"])
    assert 0.9 < busiest < 1.0005  # no port carries more than its line


def test_the_base_rtt_of_unequal_paths_is_the_one_of_the_results() -> None:
    """In leaf-spine one of seven flows stays within its leaf: the shortest is not the median. For all engines alike."""
    scenes: list[Scene] = []

    class Watching(Observer):
        def on_begin(self, scene: Scene) -> None:
            scenes.append(scene)

    settings = ["time.duration=0.6 ms", "time.warmup=0.2 ms"]
    record = simulated("leaf-spine", settings, observer=Watching())
    summary = summarise(record, judge(record), experiment="leaf-spine", controller="dcqcn")
    (scene,) = scenes
    assert scene.base_rtt == pytest.approx(summary.base_rtt, rel=1e-6)
    assert scene.base_rtt > 8e-6  # four links each way, not two
    assert summary.duration == pytest.approx(0.6e-3)


def test_a_port_in_use_stops_before_anything_is_built(tmp_path: Path) -> None:
    from testbed.live.server import LiveServer

    taken = LiveServer("127.0.0.1", 0)
    address = f"127.0.0.1:{taken.server_port}"
    command = [
        *COMMAND[:3],
        "run",
        "incast-8",
        "--engine",
        "virtual",
        "--metrics-addr",
        address,
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    taken.server_close()
    assert done.returncode == 2
    assert (
        done.stderr == f"testbed: --metrics-addr {address}: Address already in use; name another HOST:PORT, or 'none'\n"
    )
    assert not (tmp_path / "out").exists()


def test_a_page_without_an_address_is_bad_input(tmp_path: Path) -> None:
    command = [
        *COMMAND[:3],
        "run",
        "incast-8",
        "--engine",
        "virtual",
        "--ui",
        "--metrics-addr",
        "none",
        "--out",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stderr == "testbed: --ui needs an address: leave out --metrics-addr none\n"
