"""Rollouts of a program for the DPA: it controls the card only if it reports so, and the old one comes back."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.emulated_lab.host import Host
from tests.emulated_lab.init import STOCK_UNIT
from tests.emulated_lab.lab import Lab
from tests.emulated_lab.spec import STOCK
from tests.support.rollout import experiment, phase, play, reset_attempts, settings_of
from tests.support.waiting import PATIENCE, until

pytestmark = [pytest.mark.root, pytest.mark.parallel, pytest.mark.slow]
MANIFEST = {  # what an export says of itself, as far as the emulated build reads it
    "binary": "testbed-pcc",
    "algorithm_id": 0xC001,
    "controller": "swift",
    "digest": "0" * 64,
    "parameters": [
        {"number": 0, "name": "PATIENCE", "text": "ns", "initial": 300_000, "least": 1_000, "most": 60_000_000},
        {"number": 1, "name": "START_RATE", "text": "fxp20", "initial": 10486, "least": 1, "most": 1 << 20},
    ],
    "counters": ["RTT_EVENTS"],
}
OURS = "testbed-pcc@mlx5_0.service"
UNIT_FILE = "/etc/systemd/system/testbed-pcc@.service"


def start_stock(host: Host) -> None:
    host.write(f"/etc/systemd/system/{STOCK}", STOCK_UNIT)
    host.run(["systemctl", "daemon-reload"])
    host.run(["systemctl", "enable", "--now", STOCK])
    until(lambda: host.contains("/run/stock-pcc.log", "Active"))


def active(host: Host, unit: str) -> bool:
    return host.run(["systemctl", "is-active", unit], check=False).returncode == 0


def test_a_program_takes_the_card_or_the_old_one_gets_it_back(tmp_path: Path) -> None:
    source = tmp_path / "program"
    source.mkdir()
    (source / "meson.build").write_text("# as exported\n")
    (source / "manifest.json").write_text(json.dumps(MANIFEST))
    wanted = experiment("swift", pcc_source=str(source), pcc_rollback_unit=STOCK, pcc_patience=15)
    with Lab(cards=["bf3"]) as lab:
        (host,) = lab.hosts
        play(lab, "site.yml", **wanted).refused("no-rollback-program")
        start_stock(host)
        before = settings_of(host)

        # One that gets into an error exits with 0: systemd starts it again and again, and only the log tells.
        host.write("/opt/failing", "#!/bin/sh\necho PCC host status Error\nexit 0\n")
        host.run(["chmod", "755", "/opt/failing"])
        failed = play(lab, "site.yml", **{**wanted, "pcc_program": "/opt/failing", "pcc_patience": 3})
        failed.refused("rollout r1: lab1: Have the program control the card: pcc-")
        assert active(host, STOCK)
        assert not active(host, OURS)
        assert settings_of(host) == before

        # By name, and refused by name: the card would ignore it without a word.
        play(lab, "site.yml", **wanted, pcc_parameters={"RATE": 1, "START_RATE": 1 << 21}).refused(
            "there is no RATE (the program has PATIENCE, START_RATE); START_RATE is 2097152, 1 to 1048576"
        )
        parameters = {"START_RATE": 7000}
        assert play(lab, "site.yml", rollout="r2", pcc_parameters=parameters, **wanted).changed() > 0
        assert "PCC host status Active" in host.read("/run/testbed/pcc/mlx5_0.log")
        assert [one["value"] for one in host.state()["ppcc"]["0"]["parameters"]] == [300_000, 7000]
        told = json.loads(host.read("/etc/testbed/rollout.json"))
        named = told["devices"]["mlx5_0"]["pcc"]["parameters"]
        assert named == {"PATIENCE": 300_000, "START_RATE": 7000}  # as the exporter calls them
        # The policy is the program: another one under the same experiment is built elsewhere, and differs.
        installed = json.loads(host.read("/var/lib/testbed/state.json"))
        assert [one["policy"]["sha256"] for one in (told, installed)] == [MANIFEST["digest"]] * 2
        assert f"/opt/testbed/pcc/{MANIFEST['digest']}/build/testbed-pcc" in host.read(UNIT_FILE)
        assert not active(host, STOCK)
        assert phase(host) == "promoted"

        lab.power_cycle("lab1")  # a program ended by a reset leaves the card taken
        deadline = time.monotonic() + PATIENCE
        while host.state()["ppcc"].get("0", {"parameters": [{}, {}]})["parameters"][1].get("value") != 7000:
            assert time.monotonic() < deadline, host.read("/run/lab/journal.jsonl")
            time.sleep(0.2)
        assert active(host, OURS)
        assert not active(host, STOCK)
        assert play(lab, "site.yml", rollout="r3", pcc_parameters=parameters, **wanted).changed() == 0

        assert play(lab, "rollback.yml", rollout="r2").changed() == 1
        assert active(host, STOCK)
        assert settings_of(host) == before
        assert reset_attempts(host) == []


def test_a_program_that_stays_in_standby_is_no_success() -> None:
    wanted = experiment("swift", pcc_program="/usr/bin/doca_pcc", pcc_rollback_unit=STOCK, pcc_patience=3)
    with Lab(cards=["bf3"]) as lab:
        (host,) = lab.hosts
        start_stock(host)
        before = settings_of(host)
        with host.store.edit() as state:
            state["pcc"]["owner"] = "ghost"
        play(lab, "site.yml", **wanted).refused("pcc-standby", "another program controls the card")
        assert settings_of(host) == before
