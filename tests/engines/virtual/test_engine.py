"""`testbed run --engine virtual` as a user meets it, without root."""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from testbed.cli.main import main
from testbed.engines.virtual.engine import VirtualEngine
from testbed.errors import TestbedError
from testbed.experiment.load import load, resolve
from testbed.fidelity.counters import FlowCounts
from testbed.fidelity.gather import Programs
from testbed.live.observers import Observer
from testbed.results import folder
from testbed.runs.run import execute
from tests.live.scrapes import one, samples
from tests.support.checkout import ROOT
from tests.support.commands import command
from tests.support.waiting import PATIENCE

NOBODY = 65534
SAID = "virtual engine: simulated with the rack's programs"
HANGING = {
    "controller": """
from testbed.controller import Ack, CompiledController


class Mine(CompiledController):
    name = "mine"
    count: int

    def on_ack(self, ack: Ack) -> None:
        while self.rate > 0:
            self.count += 1
""",
    "controller in batches": """
from testbed.controller import RateController


class Mine(RateController):
    name = "mine"

    def on_feedback(self, now, flows, feedback):
        while True:
            pass
""",
    "path chooser": """
from testbed.chooser import PathChooser


class Mine(PathChooser):
    name = "mine"

    def on_send(self, now: float) -> None:
        while self.entropy >= 0:
            self.entropy = 0
""",
    "tuner": """
from testbed.tuner import Thresholds, Tuner


class Mine(Tuner):
    name = "mine"

    def __init__(self, config, ports):
        super().__init__(config, ports)
        self.slot = 100e-6

    def initial(self):
        return Thresholds.uniform(len(self.ports), 1e5, 4e5, 0.2)

    def on_slot(self, now, sample):
        while True:
            pass
""",
}
FAILING = """
from testbed.controller import Ack, CompiledController


class Mine(CompiledController):
    name = "mine"
    {field}

    def on_ack(self, ack: Ack) -> None:
        {on_ack}
"""


def virtual(*arguments: str, cwd: Path | None = None, user: int | None = None) -> subprocess.CompletedProcess[str]:
    return command("run", *arguments, "--engine", "virtual", "--metrics-addr", "none", cwd=cwd, user=user)


def children() -> set[str]:
    """Processes of this one."""
    return set(Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split())


def as_json(*arguments: str, cwd: Path) -> tuple[int, dict[str, Any]]:
    out = cwd / f"run{len(list(cwd.iterdir()))}"
    done = virtual(*arguments, "--set", "record.report=false", "--out", str(out), "--format", "json", cwd=cwd)
    assert done.stdout.strip() == (out / "summary.json").read_text().strip(), done.stderr
    return done.returncode, json.loads(done.stdout)


def test_table_folder_page_and_comparison_say_what_it_is(tmp_path: Path) -> None:
    done = virtual("incast-8", "--controller", "swift", "--duration", "1 ms", "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert SAID in " ".join(done.stdout.split())
    kept = folder.load(tmp_path / "run")
    assert kept.manifest.engine == kept.summary.engine == kept.manifest.experiment["engine"] == "virtual"
    assert kept.manifest.kernel_features == {"simulated with": "the rack's programs"}
    assert kept.summary.verdict.word == "clean"
    assert SAID.replace("'", "&#x27;") in (tmp_path / "run" / "report.html").read_text()
    again = virtual("incast-8", "--duration", "1 ms", "--out", "other", "--set", "record.report=off", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    compared = command("compare", "run", "other", cwd=tmp_path)
    assert SAID in " ".join(compared.stdout.split())


def test_what_only_a_machine_can_do_is_unknown(tmp_path: Path) -> None:
    code, found = as_json("incast-2", "--duration", "0.3 ms", cwd=tmp_path)
    assert code == 0
    for name in ("pacing_lag_p99", "pacing_lag_max", "feedback_lag_p99", "feedback_lag_max"):
        assert found[name] is None
    assert set(found["counters"]) == {
        "lost_on_links", "ring_overflow", "reordered_packets", "rates_above_line", "drops_outside_model", "trims",
    }  # fmt: skip
    assert found["packets_delivered"] > 0


@pytest.mark.root
@pytest.mark.parallel
def test_it_needs_no_root() -> None:
    with TemporaryDirectory() as open_to_all:  # pytest's own are root's alone
        (place := Path(open_to_all)).chmod(0o777)
        done = virtual("incast-2", "--duration", "0.3 ms", "--set", "record.report=off", cwd=place, user=NOBODY)
    assert done.returncode == 0, done.stderr


def test_what_is_decided_above_the_line_degrades_the_run(tmp_path: Path) -> None:
    text = FAILING.format(field="", on_ack="self.rate = 2.0 * self.path.line_rate")
    (tmp_path / "mine.py").write_text(text)
    code, found = as_json("incast-2", "--controller", "mine.py", "--duration", "0.3 ms", cwd=tmp_path)
    assert code == 3
    assert [one["what"] for one in found["verdict"]["reasons"]] == ["rate above line rate"]


def test_a_broken_invariant_degrades_the_run_and_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A NIC that has lost count of one packet."""

    def miscounted(programs: Programs, *told: Any) -> FlowCounts:
        counts = counted(programs, *told)
        counts.nic_sent[0] -= 1
        return counts

    counted = Programs.flows
    monkeypatch.setattr(Programs, "flows", miscounted)
    options = "--engine virtual --duration 50us --set time.warmup=0 --set record.report=off --metrics-addr none"
    monkeypatch.setattr(sys, "argv", ["testbed", "run", "incast-2", *options.split(), "--out", str(tmp_path / "run")])
    assert main() == 3
    verdict = folder.load(tmp_path / "run").summary.verdict
    assert verdict.word == "degraded"
    assert "packets sent by agents did not leave their hosts" in [reason.what for reason in verdict.reasons]


def test_a_controller_that_fails_is_named_and_what_was_measured_is_kept(tmp_path: Path) -> None:
    text = FAILING.format(field="count: int", on_ack="self.count += 1; self.rate /= 20 - self.count")
    (tmp_path / "mine.py").write_text(text)
    done = virtual("incast-2", "--controller", "mine.py", "--duration", "1 ms", "--out", "run", cwd=tmp_path)
    assert done.returncode == 1
    assert "controller 'mine'" in done.stderr
    assert folder.load(tmp_path / "run").summary.packets_sent > 0


FIXED = rf"controller 'fixed' \({ROOT}/controllers/fixed.py\)"
SOLE = "controller={}"
SECOND = "controllers=[{{name: {}, of: {{hosts: [h2]}}}}]"


@pytest.mark.parametrize(
    ("kind", "setting", "others"),
    [
        ("controller", SOLE, ""),
        ("controller", SECOND, FIXED),
        ("controller in batches", SOLE, ""),
        ("controller in batches", SECOND, FIXED),
        ("path chooser", "routing={}", FIXED),
        ("tuner", "tuner={}", ""),
    ],
    ids=["controller", "second controller", "batches", "second in batches", "path chooser", "tuner"],
)
def test_a_plugin_that_never_returns_is_named_and_ended(kind: str, setting: str, others: str, tmp_path: Path) -> None:
    """With all others that C asks without Python; nobody who had no turn is named."""
    (file := tmp_path / "mine.py").write_text(HANGING[kind])
    given = ["engine=virtual", *(["controller=fixed"] if setting != SOLE else []), setting.format(file)]
    resolved = resolve(load("incast-2").apply(given))
    before = children()
    who = " or ".join(filter(None, (others, rf"{kind.removesuffix(' in batches')} 'mine' \({file}\)")))
    with pytest.raises(TestbedError, match=f"^{who} did not return for 0.5 s") as caught:
        execute(VirtualEngine(patience=0.5), resolved, tmp_path / "out", Observer())
    assert caught.value.exit_code == 1
    assert not (tmp_path / "out").exists()
    assert children() == before


def test_it_can_be_watched_and_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    """By Prometheus, and by `testbed watch`, which gets what the live page gets."""
    long = ["--duration", "1 s", "--set", "record.interval=1 ms", "--set", "record.decisions=0"]
    unseen = ["--set", "record.report=off", "--out", "run", "--metrics-addr", "127.0.0.1:0"]
    started = [sys.executable, "-m", "testbed"]
    run = subprocess.Popen(
        [*started, "run", "incast-8", "--engine", "virtual", *long, *unseen],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert run.stderr
    url = re.search(r"http://[^/]*:(\d+)/metrics", run.stderr.readline())
    assert url
    watch = subprocess.Popen([*started, "watch", url[1], "--format", "json"], stdout=subprocess.PIPE, text=True)
    assert watch.stdout
    told: dict[str, Any] = {}
    while "update" not in told:
        line = json.loads(watch.stdout.readline())
        told[line["event"]] = line["data"]
    with urllib.request.urlopen(url[0], timeout=PATIENCE) as response:
        scraped = samples(response.read().decode())
    run.send_signal(signal.SIGINT)
    said = run.stderr.read()
    assert run.wait() == 3, said
    *_, end = (json.loads(line) for line in watch.stdout)
    assert watch.wait() == 3
    assert (told["scene"]["engine"], told["scene"]["how"]) == ("virtual", SAID)
    assert math.isnan(one(scraped, "testbed_dilation_ratio"))
    assert one(scraped, "testbed_port_tx_bytes_total", port="s1-eth9") > 0
    assert set(told["update"]["distortion"]) == {"base RTT mismatch", "rejected thresholds"}
    kept = folder.load(tmp_path / "run").summary
    assert "the run ended early" in [reason.what for reason in kept.verdict.reasons]
    assert 0 < kept.duration < 1
    assert end["data"]["verdict"] == kept.verdict.word == "degraded"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dilation", "100"), "time.dilation: engine 'virtual' does not run in wall time"),
        (("--set", "time.dilation=1000"), "--set time.dilation=1000: time.dilation: "),
        (("--set", "rack.calibrate=all"), "rack.calibrate: 'all' has no meaning with engine 'virtual'; leave it out"),
        (("--set", "rack.delay_by=netem"), "rack.delay_by: 'netem' has no meaning with"),
        (("--set", "rack.switch.forwarding=ovs"), "rack.switch.forwarding: 'ovs' has no meaning with"),
        (("--inventory", "lab.yml"), "--inventory runs over real hosts, --engine virtual does not"),
        (("--out", "/proc/x"), "cannot be written"),
    ],
)
def test_what_has_no_meaning_is_refused_by_name(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "lab.yml").write_text("")
    done = virtual("incast-2", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_a_file_that_asks_for_it_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(
        "engine: virtual\ntraffic: {pattern: incast, senders: 2}\nrack:\n  calibrate: all\ncontroller: fixed\n"
    )
    done = command("validate", "one.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("testbed: one.yaml, line 4: rack.calibrate: 'all' has no meaning")


def test_a_dilation_in_a_file_is_for_the_kernel_and_ignored(tmp_path: Path) -> None:
    """leaf-spine names one; any would do."""
    options = ("--duration", "50 us", "--set", "time.warmup=0")
    assert as_json("leaf-spine", *options, cwd=tmp_path)[0] == 0


def test_a_decision_cost_is_of_virtual_time_alone() -> None:
    for engine in ("kernel", "fluid"):
        done = command("run", "incast-2", "--engine", engine, "--dry-run", "--set", "controller.decision_cost=1 us")
        assert done.returncode == 2
        assert f"controller.decision_cost: with engine '{engine}' a decision takes as long as it takes" in done.stderr
