"""Rollouts of DCQCN in the emulated lab, from check mode to rolling back twice, and what stops one half way."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.emulated_lab.host import Host
from tests.emulated_lab.lab import Lab
from tests.emulated_lab.spec import HostSpec
from tests.support.rollout import PLAYBOOKS, experiment, phase, play, recorded, reset_attempts, settings_of, state_home
from tests.support.waiting import PATIENCE, until

pytestmark = [pytest.mark.root, pytest.mark.parallel, pytest.mark.slow]
AI_RATE = "sys/class/net/{}/ecn/roce_rp/rpg_ai_rate"
ACTIVATING = "ActiveState=activating\n"
INBOX = "sys/kernel/debug/mlx5/{}/cc_params/rp_ai_rate"


def ai_rate(host: Host) -> str:
    """The file of it, whichever driver the host has."""
    return INBOX.format(host.pci) if host.spec.driver == "inbox" else AI_RATE.format(host.interface)


def in_force(host: Host) -> dict[str, Any]:
    """What can be read and restored: without the card's map of DSCPs that are not in the driver's table.

    configfs' folder is only a way to look at what rdma_cm has.
    """
    found = settings_of(host)
    found["qos"] = {name: value for name, value in found["qos"].items() if name != "map"}
    return {name: value for name, value in found.items() if name != "configfs"}


def comes_back(host: Host, wanted: dict[str, Any]) -> None:
    """The unit that brings settings back has done so, or it never does."""
    deadline = time.monotonic() + PATIENCE
    while (found := in_force(host)) != wanted:
        different = {name: (found.get(name), value) for name, value in wanted.items() if found.get(name) != value}
        assert time.monotonic() < deadline, f"{different}\n{host.read('/run/lab/journal.jsonl')}"
        time.sleep(0.2)
    while (unit := host.run(["systemctl", "show", "testbed-settings", "-p", "ActiveState"]).stdout) == ACTIVATING:
        assert time.monotonic() < deadline, unit  # once more, for the card's second device
        time.sleep(0.2)


def untouched(host: Host, before: dict[str, Any]) -> bool:
    """Nobody has written anything."""
    ours = [folder for folder in ("var/lib/testbed", "run/testbed") if (host.root / folder).exists()]
    return host.calls("write") == [] and in_force(host) == before and ours == []


def rolled_out(lab: Lab, host: Host) -> bool:
    """Settings, promotion, and the copy of the snapshot."""
    assert host.read(ai_rate(host)) == "100\n"  # 40 Mbit/s at 40 Gbit/s, at 100 Gbit/s
    assert host.state()["qos"]["trust"] == "dscp"
    assert host.state()["qos"]["dscp_prio"]["26"] == 3
    assert host.state()["dcqcn"]["dce_tcp_g"] == 1020
    assert phase(host) == "promoted"
    assert not (host.root / "run/testbed/rollout.lock").exists()
    assert host.run(["systemctl", "is-active", "testbed-dead-man.timer"], check=False).returncode != 0
    kept = state_home(lab) / f"testbed/rollouts/r1/snapshots/{host.name}.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    return kept.read_text() == host.read("/var/lib/testbed/snapshots/r1.json")


def boot_and_reload(lab: Lab, host: Host, promoted: dict[str, Any]) -> None:
    """Settings are gone then, and what was promoted comes back; not what a rollout wanted that came to no end."""
    file = "etc/testbed/rollout.json"
    wanted = host.read(file)
    host.write(file, wanted.replace('"100"', '"99"'))
    lab.reboot(host.name)
    comes_back(host, promoted | {file: (host.read(file), promoted[file][1])})
    host.write(file, wanted)
    host.run(["devlink", "dev", "reload", f"pci/{host.pci}"])
    comes_back(host, promoted)


def test_there_and_back() -> None:
    """One host with MLNX_OFED, one with the mainline driver and a distribution's tools."""
    wanted = experiment()
    with Lab(cards=["cx7", HostSpec("bf2", driver="inbox")]) as lab:
        canary, inbox = lab.hosts
        # what somebody else had mapped there: the first entry has switched trust to DSCP
        inbox.run(["dcb", "app", "add", "dev", inbox.interface, "dscp-prio", "10:1", "26:0"])
        before = [in_force(host) for host in lab.hosts]

        checked = play(lab, "site.yml", "--check", "--diff", **wanted)
        assert checked.changed() > 0
        for line in ("+ecn roce_rp/rpg_ai_rate = 100", "+cc_params rp_ai_rate = 100", "+dcb dscp/48 = 6"):
            assert line in checked.text
        assert "the mainline driver has no roce_rp/enable/3" in checked.text
        assert "check mode: 2 of 2 hosts would be changed, and nothing was" in checked.text
        assert [untouched(*one) for one in zip(lab.hosts, before, strict=True)] == [True, True]
        assert recorded(lab) == []
        play(lab, "rollback.yml", rollout="").refused("name the rollout that is to be undone; there are", "none")

        rolled = play(lab, "site.yml", **wanted)
        assert rolled.changed() > 0
        assert "rollout r1: promoted on 2 of 2 hosts" in rolled.line
        assert "ansible-playbook rollback.yml -e rollout_id=r1" in rolled.line
        assert recorded(lab) == [("r1", "incast-8", "promoted")]
        assert not (PLAYBOOKS / "records").exists()
        assert [rolled_out(lab, host) for host in lab.hosts] == [True, True]
        promoted = [in_force(host) for host in lab.hosts]
        del promoted[1]["qos"]["dscp_prio"]["10"]  # not ours: after a boot it is gone

        again = play(lab, "site.yml", rollout="", **wanted)  # apply again
        assert again.changed() == 0
        assert "Z: nothing to do, all hosts are as the experiment wants" in again.line

        for host, then in zip(lab.hosts, promoted, strict=True):
            boot_and_reload(lab, host, then)

        for host in lab.hosts:
            host.run(["sh", "-c", f"echo 77 > /{ai_rate(host)}"])
        drifted = play(lab, "drift.yml", "--diff")
        drifted.refused("drift:", "roce_rp/rpg_ai_rate", "'found': '77'", "'wanted': '100'")
        assert "-ecn roce_rp/rpg_ai_rate = 77" in drifted.text
        assert "-cc_params rp_ai_rate = 77" in drifted.text
        assert canary.read(ai_rate(canary)) == "77\n"  # shown, not mended

        lock = json.dumps({"rollout": "night", "controller": "deploy2", "since": time.time()})
        canary.run(["sh", "-c", f"mkdir -p /run/testbed; echo '{lock}' > /run/testbed/rollout.lock"])
        play(lab, "site.yml", rollout="r3", **wanted).refused(
            "other-rollout: rollout 'night' from deploy2 holds this host"
        )
        canary.run(["devlink", "dev", "reload", f"pci/{canary.pci}"])  # while a rollout is on its way
        canary.run(["systemctl", "start", "testbed-settings"])
        assert "rollout 'night' holds this host" in canary.run(["journalctl", "-u", "testbed-settings"]).stdout
        assert canary.read(ai_rate(canary)) == "5\n"
        (canary.root / "run/testbed/rollout.lock").unlink()

        play(lab, "rollback.yml", rollout="nonsense").refused(
            "no host of this play has a rollout 'nonsense'; there are, the last one first: r1"
        )
        play(lab, "rollback.yml", rollout="").refused(
            "name the rollout that is to be undone", "ansible-playbook rollback.yml -e rollout_id=r1"
        )
        assert canary.read(ai_rate(canary)) == "5\n"
        assert play(lab, "rollback.yml").changed() == 2
        assert recorded(lab) == [("r1", "incast-8", "rolled back")]
        assert [in_force(host) for host in lab.hosts] == before  # the other's entry 10:1 as well
        assert play(lab, "rollback.yml").changed() == 0  # a second time there is nothing to do
        assert [reset_attempts(host) for host in lab.hosts] == [[], []]
        assert canary.run(["systemctl", "is-enabled", "testbed-settings"], check=False).returncode != 0


def test_a_canary_that_fails_stops_everything_and_comes_back() -> None:
    with Lab(cards=["cx7", "bf2"]) as lab:
        canary, other = lab.hosts
        before = settings_of(canary)
        canary.count("out_of_sequence", rate=100)
        failed = play(lab, "site.yml", **experiment())
        failed.refused("rollout r1: lab1: Verify with traffic", "counter-grew: out_of_sequence")
        assert "rollout r1: rolled back on 2 of 2 hosts" in failed.line
        assert recorded(lab) == [("r1", "incast-8", "rolled back")]
        assert settings_of(canary) == before
        assert phase(canary) == "rolled_back"
        assert other.calls("write") == []
        assert not (other.root / "var/lib/testbed").exists()
        evidence = list((canary.root / "var/lib/testbed/evidence").glob("r1-*/settings.json"))
        assert len(evidence) == 1

        # A setting that the firmware ignores without a word is named, and undone with all others.
        canary.mend()
        canary.count("out_of_sequence", rate=0)
        canary.break_file("rpg_gd", "ignored")
        canary.break_file("rpg_ai_rate", "ignored")
        ignored = play(lab, "site.yml", rollout="r2", rollout_hosts="canary", **experiment())
        ignored.refused("ecn roce_rp/rpg_ai_rate is '5', not '100'")
        assert settings_of(canary) == before


def test_a_failure_in_the_last_wave_undoes_the_first_ones() -> None:
    """Also where the host that failed, the only one of its wave, cannot be put back: somebody has taken its lock."""
    take = f"[ $(hostname) != lab3 ] || echo '{json.dumps({'rollout': 'night'})}' > /run/testbed/rollout.lock"
    with Lab(cards=["cx7", "cx6dx", "bf2"]) as lab:
        before = [settings_of(host) for host in lab.hosts]
        last = lab.hosts[2]
        last.count("packet_seq_err", rate=100)
        failed = play(lab, "site.yml", **experiment(verify_probe=["sh", "-c", take]))
        failed.refused("rollout r1: lab3: Verify with traffic", "counter-grew: packet_seq_err")
        failed.refused("it was not restored: other-rollout: rollout 'night'")
        assert recorded(lab) == [("r1", "incast-8", "failed")]
        assert [phase(host) for host in lab.hosts] == ["rolled_back", "rolled_back", "verify"]
        assert all(host.calls("write") for host in lab.hosts)  # all had been changed
        (last.root / "run/testbed/rollout.lock").unlink()
        last.run(["python3", "/usr/local/lib/testbed/restore.py", "--rollout", "r1"])
        assert [settings_of(host) for host in lab.hosts] == before


def test_the_wrong_card_is_refused_and_so_is_a_card_that_ignores_dcqcn() -> None:
    with Lab(cards=["cx7", "bf2"]) as lab:
        inventory = lab.inventory.read_text().replace("card: cx7", "card: bf3")
        lab.inventory.write_text(inventory)
        with lab.hosts[1].store.edit() as state:
            state["nvconfig"]["ROCE_CC_LEGACY_DCQCN"]["current"] = 0
        refused = play(lab, "site.yml", **experiment())
        refused.refused("wrong-card: 0000:01:00.0 is cx7; the inventory says bf3", "legacy-dcqcn-off")
        assert [host.calls("write") for host in lab.hosts] == [[], []]


def test_ssh_dies_half_way_and_the_dead_man_restores() -> None:
    with Lab(cards=["cx7", "bf2"]) as lab:
        canary, other = lab.hosts
        before = settings_of(canary)
        canary.trap("write rpg_ai_rate", "kill sshd")
        play(lab, "site.yml", **experiment()).refused("rollout r1: lab1:")
        assert other.calls("write") == []
        canary.run(["systemctl", "is-active", "testbed-dead-man.timer"])
        canary.run(["systemctl", "start", "testbed-dead-man.service"])  # as it does after ten minutes
        until(lambda: phase(canary) == "rolled_back", every=0.2)
        assert settings_of(canary) == before
        assert not (canary.root / "run/testbed/rollout.lock").exists()


def test_a_host_dies_half_way() -> None:
    with Lab(cards=["cx7", "bf2"]) as lab:
        canary, other = lab.hosts
        before = settings_of(canary)
        canary.trap("write rpg_ai_rate", "power off")
        play(lab, "site.yml", **experiment()).refused("rollout r1: lab1:")
        assert other.calls("write") == []
        lab.power_on("lab1")
        assert canary.read(ai_rate(canary)) == "5\n"  # it was not promoted, so that nothing brings it back
        assert canary.run(["systemctl", "is-enabled", "testbed-settings"], check=False).returncode != 0
        play(lab, "site.yml", rollout="r2", **experiment()).refused("unfinished-rollout: rollout 'r1' stopped in phase")
        assert play(lab, "rollback.yml").changed() == 1
        assert settings_of(canary) == before
        assert phase(canary) == "rolled_back"
