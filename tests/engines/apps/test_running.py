"""Apps in a rack: what they see, when they start and end, what is kept of them, and what of them is left: nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.apps import experiment, round_trips
from tests.support.outside import run, summary_in
from tests.support.runs import UNCALIBRATED, UNDRAWN

pytestmark = [pytest.mark.root, pytest.mark.parallel]

SHORT = (*UNCALIBRATED, *UNDRAWN, "--metrics-addr", "none")
LIVE = ("--engine", "live", *UNDRAWN, "--set", "record.decisions=0", "--metrics-addr", "none")


def test_apps_alone_see_hosts_by_name_and_the_run_ends_with_them(tmp_path: Path) -> None:
    """A server that is ready before the run begins and never ends, and a client, in its own folder, that does."""
    file = experiment(
        tmp_path,
        """
apps:
  - name: server
    hosts: [h1]
    run: $TESTBED_PYTHON -m http.server 8000 --directory /etc & sleep 1000
    ready: { port: 8000 }
  - name: client
    hosts: [h2]
    exit: 0
    environment: { WORD: fish }
    run: |
      hostname; pwd; ls; echo $WORD $TESTBED_HOST; ls /sys/class/net | grep -c e0
      $TESTBED_PYTHON -c "import urllib.request as u; print(u.urlopen('http://h1:8000/hosts').read().decode())"
    figures: [{ name: links, pattern: "^([0-9]+)$", unit: links }]
time: { duration: 400 ms, dilation: 1000 }
""",
    )
    done = run(tmp_path, "run", file, *SHORT)
    assert done.returncode in (0, 3), done.stderr
    printed = (tmp_path / "out" / "apps" / "client.out").read_text().split("\n", 4)
    assert printed[:4] == ["h2", "/media", "fish h2", "1"]
    assert "10.0.0.1 h1" in printed[4]
    summary, manifest = summary_in(tmp_path), json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert summary["duration"] < 0.3
    assert (summary["flows"], summary["apps"][1]["figures"]) == (0, [{"name": "links", "value": 1, "unit": "links"}])
    assert not [one for one in summary["verdict"]["reasons"] if "conserved" in one["what"]]
    ends = {one["name"]: (one["code"], one["stopped"]) for one in manifest["apps"]}
    assert ends == {"server": (143, True), "client": (0, False)}


@pytest.mark.parametrize("way", [SHORT, LIVE], ids=["kernel", "live"])
def test_a_crash_ends_the_run_with_the_last_lines(way: tuple[str, ...], tmp_path: Path) -> None:
    file = experiment(
        tmp_path,
        """
traffic: { pattern: incast, senders: 2 }
controller: dcqcn
apps: [{ name: broken, hosts: [h2], run: "echo out; (echo no such disk >&2; exit 3); echo on" }]
time: { duration: 300 ms, dilation: 1000 }
""",
    )
    done = run(tmp_path, "run", file, *way)
    assert done.returncode == 1
    assert "app 'broken' at h2 ended with exit code 3: no such disk" in done.stderr
    assert (tmp_path / "out" / "apps" / "broken.err").read_text() == "no such disk\n"


@pytest.mark.parametrize("way", [SHORT, LIVE], ids=["kernel", "live"])
def test_one_that_is_not_ready_ends_it_before_it_begins(way: tuple[str, ...], tmp_path: Path) -> None:
    file = experiment(
        tmp_path,
        """
apps: [{ name: server, hosts: [h1], run: "echo cannot bind; sleep 9", ready: { port: 80 }, patience: 1 }]
""",
    )
    done = run(tmp_path, "run", file, *way)
    assert (done.returncode, (tmp_path / "out").exists()) == (1, False)
    assert "app 'server' does not listen at port 80 after 1 s: cannot bind" in done.stderr


def test_a_stop_reaches_all_processes_and_who_should_have_ended_is_named(tmp_path: Path) -> None:
    file = experiment(
        tmp_path,
        """
apps:
  - { name: stopped, hosts: [h1], run: "trap 'echo bye' TERM; sleep 1000 & wait", stop: 300 us }
  - { name: late, hosts: [h2], run: sleep 1000, exit: 0 }
time: { duration: 1 ms, dilation: 1000 }
""",
    )
    assert run(tmp_path, "run", file, *SHORT).returncode == 3
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (tmp_path / "out" / "apps" / "stopped.out").read_text() == "bye\n"
    assert manifest["apps"][0]["ended"] < 0.9e-3
    assert {"what": "apps that had not ended", "how_much": "late", "remedy": "raise --duration, or their stop"} in [
        *manifest["verdict"]["reasons"]
    ]


@pytest.mark.parametrize("way", [SHORT, LIVE], ids=["kernel", "live"])
def test_a_client_is_stopped_before_its_server(way: tuple[str, ...], tmp_path: Path) -> None:
    """iperf3 has no figures, or wrong ones, when its server is gone."""
    stopped = """run: "trap 'date +%s%N' TERM; sleep 1000 & wait", figures: [{ name: at, pattern: "([0-9]+)" }]"""
    file = experiment(
        tmp_path,
        f"""
apps: [{{ name: server, hosts: [h1], {stopped} }}, {{ name: client, hosts: [h2], {stopped} }}]
time: {{ duration: 300 us, dilation: 1000 }}
""",
    )
    assert run(tmp_path, "run", file, *way).returncode in (0, 3)
    server, client = (one["figures"][0]["value"] for one in summary_in(tmp_path)["apps"])
    assert client < server


def test_packets_of_apps_meet_the_delay_of_their_path(tmp_path: Path) -> None:
    """There and back over four links of 2 us each: none may be earlier."""
    rack = "rack: { kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 1 }\n"
    spans = "time: { duration: 400 ms, dilation: 1000 }\n"
    file = experiment(tmp_path, f"{rack}{round_trips('for _ in range(20)')}{spans}")
    summary = json.loads(run(tmp_path, "run", file, *SHORT, "--format", "json").stdout)
    rtt = next(one["value"] for one in summary["apps"][1]["figures"] if one["name"] == "shortest")
    assert 16e-6 <= rtt < 64e-6
