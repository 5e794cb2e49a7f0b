"""A switch's thresholds there and back; a profile that the tool cannot make, and a box that is no switch of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.emulated_lab.host import Host
from tests.emulated_lab.lab import Lab
from tests.support.commands import command
from tests.support.rollout import experiment, play, recorded
from tests.support.switch_traffic import PACKETS, arrivals

pytestmark = [pytest.mark.root, pytest.mark.parallel, pytest.mark.slow]
UNDO = {"rollout_hosts": "switches"}


def test_sonic_there_and_back() -> None:
    with Lab(cards=["cx7"], switches=["sonic"]) as lab:
        (switch,) = lab.switches
        before = switch.state()["wred"]
        wanted = experiment(switch_ecn_driver="sonic", switch_ecn_profile="AZURE_LOSSLESS")
        checked = play(lab, "switches.yml", "--check", rollout="", **{**wanted, "switch_ecn_profile": ""})
        checked.refused("no profile is named: give one with -e switch_ecn_profile=NAME", "lists: AZURE_LOSSLESS")
        assert play(lab, "switches.yml", "--check", rollout="", **wanted).changed() > 0
        assert switch.state()["wred"] == before

        rolled = play(lab, "switches.yml", **wanted)
        assert rolled.changed() > 0
        assert "rollback.yml -e rollout_hosts=switches -e rollout_id=r1" in rolled.line
        assert recorded(lab) == [("r1", "incast-8", "promoted")]
        profile = switch.state()["wred"]["AZURE_LOSSLESS"]
        # secn2: 100 and 400 kB at 25 Gbit/s, so four times that at 100 Gbit/s; both below the old minimum
        assert (profile["green_min_threshold"], profile["green_max_threshold"]) == ("400000", "1600000")
        assert profile["green_drop_probability"] == "20"
        assert switch.state()["orchagent"]  # Kmin was never above Kmax
        assert enabled(switch)
        assert play(lab, "rollback.yml", **UNDO).changed() == 1
        assert recorded(lab) == [("r1", "incast-8", "rolled back")]
        assert switch.state()["wred"] == before
        assert not enabled(switch)

        missing = {"switch_ecn_profile": "MISSING", "switch_ecn_kmin": 400_000, "switch_ecn_kmax": 400_000}  # a step
        play(lab, "switches.yml", rollout="r2", **{**wanted, **missing}).refused(
            "rollout r2: there is no profile 'MISSING'", "lists: AZURE_LOSSLESS"
        )
        assert switch.state()["wred"] == before
        assert recorded(lab)[0] == ("r2", "incast-8", "failed")


def test_tables_of_sonic_there_and_back(tmp_path: Path) -> None:
    """What `testbed export switch` prints: applied, read back, undone; and refused where it is for another switch."""
    file = tmp_path / "config_db.json"
    asked = ("export", "switch", "sonic-switch", "--to", "sonic", "--set", "rack.switch.queues.3.weight=40")
    exported = json.loads(command(*asked, "--ports", "Ethernet0,Ethernet4").stdout)
    exported["PORT"] = {port: {"speed": "100000"} for port in exported["PORT"]}
    file.write_text(json.dumps(exported))
    with Lab(cards=["cx7"], switches=["sonic"]) as lab:
        (switch,) = lab.switches
        before = switch.state()
        wanted = experiment(switch_tables=str(file))
        assert play(lab, "switches.yml", "--check", rollout="", **wanted).changed() > 0
        assert play(lab, "switches.yml", **wanted).changed() > 0
        tables = switch.state()["config_db"]
        weighted = exported["QUEUE"]["Ethernet0|3"]
        assert {name: tables["QUEUE"][name] for name in ("Ethernet0|3", "Ethernet4|3")} == dict.fromkeys(
            ("Ethernet0|3", "Ethernet4|3"), weighted
        )
        assert tables["SCHEDULER"][weighted["scheduler"]]["weight"] == "40"
        assert tables["QUEUE"]["Ethernet8|3"] == before["config_db"]["QUEUE"]["Ethernet8|3"]  # not named: as it was
        assert (recorded(lab), enabled(switch)) == ([("r1", "incast-8", "promoted")], True)
        assert play(lab, "rollback.yml", **UNDO).changed() == 1
        assert {name: switch.state()[name] for name in ("config_db", "wred")} == {
            name: before[name] for name in ("config_db", "wred")
        }

        exported["PORT"]["Ethernet0"]["speed"] = "400000"
        file.write_text(json.dumps(exported))
        play(lab, "switches.yml", rollout="r2", **wanted).refused(
            "PORT|Ethernet0/speed is 100000 on this switch, and the tables are for 400000"
        )
        assert switch.state()["config_db"] == before["config_db"]


def enabled(switch: Host) -> bool:
    """Whether thresholds come back when it boots."""
    return switch.run(["systemctl", "is-enabled", "testbed-settings"], check=False).returncode == 0


def thresholds(switch: Host) -> list[tuple[float, ...]]:
    """Of its ports, in order."""
    ports = json.loads(switch.run(["testbed", "switch", "show", "--format", "json"]).stdout)["ports"]
    return [(port["kmin"], port["kmax"], port["pmax"]) for port in ports]


def test_our_own_there_and_back_with_packets() -> None:
    """The real port program behind the same playbook: packets are marked while its thresholds are active."""
    wanted = experiment(switch_ecn_driver="testbed")
    with Lab(cards=["cx7", "bf2"], switches=["testbed", "sonic"]) as lab:
        switch, other = lab.switches
        before = thresholds(switch)
        assert arrivals(*lab.hosts) == (PACKETS, 0)

        checked = play(lab, "switches.yml", "--check", "--diff", "--limit", switch.name, **wanted)
        assert checked.changed() > 0
        assert "-testbed all/kmin = 5000000" in checked.text
        assert "+testbed all/kmin = 400000" in checked.text
        assert thresholds(switch) == before

        # One after the other, and the second is none of ours.
        play(lab, "switches.yml", **wanted).refused("this box is no testbed switch", "testbed switch attach")
        assert thresholds(switch) == [(400_000, 1_600_000, 0.2)] * 2
        arrived, marked = arrivals(*lab.hosts)
        assert arrived == PACKETS
        assert marked > 0
        assert not other.calls("field")

        # That name is used, and its snapshot must not be gone back to by a rollout of another day.
        play(lab, "switches.yml", "--limit", switch.name, **wanted).refused("used-rollout-id: rollout 'r1' has ended")
        assert thresholds(switch) == [(400_000, 1_600_000, 0.2)] * 2
        switch.run(["testbed", "switch", "set", "swp1", "--pmax", "7 %"])  # somebody's hand, on one port

        assert play(lab, "rollback.yml", "--limit", switch.name, **UNDO).changed() == 1
        assert thresholds(switch) == before
        assert arrivals(*lab.hosts) == (PACKETS, 0)
