"""The lab itself: hosts that are apart, ssh with checked keys, power, traps, and nothing left at the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.emulated_lab.by_hand import COMMAND
from tests.emulated_lab.enter import children
from tests.emulated_lab.fakes.entry import FORBIDDEN
from tests.emulated_lab.host import Host
from tests.emulated_lab.lab import Lab
from tests.emulated_lab.spec import HostSpec
from tests.support.census import Census
from tests.support.waiting import PATIENCE, until

pytestmark = [pytest.mark.root, pytest.mark.parallel]


def test_hosts_have_files_processes_and_names_of_their_own(lab: Lab) -> None:
    assert [lab.ssh(host.name, "hostname").stdout.strip() for host in lab.hosts] == ["lab1", "lab2", "lab3", "lab4"]
    lab.hosts[0].write("/etc/only-here", "x")
    assert not (lab.hosts[1].root / "etc/only-here").exists()
    assert not Path("/etc/only-here").exists()
    assert lab.hosts[0].run(["cat", "/proc/1/comm"]).stdout == "systemd\n"
    checkout = Path(__file__).parent
    assert lab.hosts[0].run(["touch", str(checkout / "x")], check=False).returncode != 0  # read-only there


def test_host_keys_are_checked(lab: Lab, tmp_path: Path) -> None:
    wrong = tmp_path / "known_hosts"
    wrong.write_text((lab.folder / "known_hosts").read_text().replace("lab1,10.99.0.11", "lab9"))
    (lab.folder / "wrong").write_bytes(wrong.read_bytes())
    command = ["ssh", "-F", str(lab.ssh_config), "-o", f"UserKnownHostsFile={lab.folder}/wrong", "lab1", "true"]
    assert lab.inside(command, check=False).returncode == 255


def probe(sender: Host, receiver: Host) -> float:
    """Gb/s."""
    server = subprocess.Popen(receiver.command(["ib_write_bw", "-d", "mlx5_0"]), stdout=subprocess.DEVNULL)
    client = ["ib_write_bw", "-d", "mlx5_0", "--report_gbits", "--out_json", "--out_json_file=/run/probe.json"]
    sender.run([*client, receiver.roce_address])
    assert server.wait(timeout=PATIENCE) == 0
    return float(json.loads(sender.read("/run/probe.json"))["results"]["BW_average"])


def test_probe_goes_through_the_switch_and_shows_whether_anything_reacts(lab: Lab) -> None:
    dpa, dcqcn = lab.hosts[:2]
    ports = {port.name for port in (lab.switches[0].root / "sys/class/net").iterdir()}
    assert probe(dpa, dcqcn) == probe(dcqcn, dpa) == 192.0  # 96 % of 200 Gb/s
    assert {"Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"} <= ports
    for host in (dpa, dcqcn):
        host.mark(1.0)
    handled = [host.state()["counters"]["rp_cnp_handled"]["base"] for host in (dpa, dcqcn)]
    assert handled == [0, 0]
    assert probe(dcqcn, dpa) < 100
    assert probe(dpa, dcqcn) == 192.0  # programmable, and no program runs: nothing reacts, although
    assert all(host.state()["counters"]["rp_cnp_handled"]["base"] > 0 for host in (dpa, dcqcn))
    for host in (dpa, dcqcn):
        host.mark(0.0)


def test_inventory_and_ansible(lab: Lab) -> None:
    setup = ["canary:sonic", "-m", "setup", "-a", "gather_subset=!all,service_mgr filter=ansible_service_mgr"]
    found = lab.inside([sys.executable, "-m", "ansible", "adhoc", *setup]).stdout
    assert found.count("SUCCESS") == 2
    assert '"ansible_service_mgr": "systemd"' in found


def test_run_time_settings_do_not_survive_a_boot_and_the_disk_does(lab: Lab) -> None:
    host = lab.hosts[0]
    file = f"/sys/class/net/{host.interface}/ecn/roce_rp/rpg_gd"
    host.write(file, "3")
    host.write("/var/lib/kept", "x")
    host.write("/run/lost", "x")
    host.run(["mlxconfig", "-y", "set", "PCC_INT_EN=1"])
    lab.reboot("lab1")
    assert host.read(file) == "11\n"
    assert host.read("/var/lib/kept") == "x"
    assert not (host.root / "run/lost").exists()
    assert host.state()["nvconfig"]["PCC_INT_EN"]["current"] == 0
    lab.power_cycle("lab1")
    assert host.state()["nvconfig"]["PCC_INT_EN"]["current"] == 1
    assert lab.ssh("lab1", "hostname").stdout == "lab1\n"


@pytest.mark.parametrize("do", ["kill sshd", "power off"])
def test_traps_spring_in_the_middle_of_something(lab: Lab, do: str) -> None:
    host = lab.hosts[0]
    ecn = f"/sys/class/net/{host.interface}/ecn/roce_rp"
    host.trap("write rpg_ai_rate", do)
    script = f"echo 5 > {ecn}/rpg_gd; echo 9 > {ecn}/rpg_ai_rate; sleep 300; echo 7 > {ecn}/rpg_hai_rate"
    assert lab.ssh("lab1", script, check=False, timeout=PATIENCE).returncode == 255
    if do == "power off":
        lab.power_on("lab1")
        assert host.read(f"{ecn}/rpg_gd") == "11\n"
    else:
        assert [host.read(f"{ecn}/{name}") for name in ("rpg_gd", "rpg_ai_rate", "rpg_hai_rate")] == [
            "5\n", "9\n", "50\n"
        ]  # fmt: skip
        lab.power_cycle("lab1")


def test_broken_commands_and_tripwires(lab: Lab) -> None:
    host = lab.hosts[1]
    host.break_command("mlxreg", code=7, text="-E- gone")
    broken = lab.ssh("lab2", "mlxreg -d x --get", check=False)
    assert (broken.returncode, broken.stderr) == (7, "-E- gone\n")
    host.mend()
    assert (
        host.run(["sh", "-c", "; ".join(f"{name} || echo refused" for name in FORBIDDEN)]).stdout.count("refused") == 7
    )
    assert host.calls("command")[-len(FORBIDDEN) :] == [[name] for name in FORBIDDEN]


def test_exported_project_is_built_and_runs(lab: Lab) -> None:
    host = lab.hosts[0]
    manifest = {
        "controller": "swift", "algorithm_id": 44438, "digest": "0" * 64, "binary": "testbed-pcc",
        "parameters": [{"number": 0, "name": "AIM", "initial": 5, "least": 1, "most": 9, "text": "share"}],
        "counters": ["RTT_EVENTS"],
    }  # fmt: skip
    (host.root / "opt/pcc").mkdir()
    host.write("/opt/pcc/manifest.json", json.dumps(manifest))
    host.write("/opt/pcc/meson.build", "project('testbed-pcc', 'c')\n")
    script = "cd /opt/pcc && meson setup build && ninja -C build && build/testbed-pcc -d mlx5_0 -w 1"
    assert "PCC host status Active" in lab.ssh("lab1", script).stdout


def test_a_command_ends_with_whoever_called_it(lab: Lab) -> None:
    """Its server's fork waits for an answer on stdin that never comes."""
    host = lab.hosts[0]

    def forks() -> int:
        return len(host.run(["pgrep", "-x", "fakes"]).stdout.split()) - 1  # less the server

    waiting = subprocess.Popen(
        host.command(["sh", "-c", "exec mlxconfig -d mlx5_0 reset"]), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    until(lambda: forks() == 1)
    host.run(["pkill", "-KILL", "-x", "mlxconfig"])
    waiting.communicate()
    until(lambda: forks() == 0)


def test_a_command_sees_the_mounts_of_whoever_called_it(lab: Lab) -> None:
    """Where its server does not, a service's own for example, it starts by itself."""
    host, hide = lab.hosts[0], "mount -t tmpfs none /etc/systemd/system"
    first = "# /etc/systemd/system/ssh.service\n"
    assert host.run(["systemctl", "cat", "ssh"]).stdout.startswith(first)
    hidden = host.run(["unshare", "--mount", "sh", "-c", f"{hide} && systemctl cat ssh"], check=False)
    assert not hidden.stdout.startswith(first)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whatever_ends_it_leaves_nothing(end: signal.Signals) -> None:
    before = Census.take()
    running, folder, theirs = at_work()
    running.send_signal(end)
    assert running.wait(timeout=PATIENCE) == 0
    assert before.leftovers() == []
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in theirs))
    assert not folder.exists()


def test_of_one_that_was_killed_only_keys_are_left_and_the_next_one_removes_them(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Path(tempfile.mkdtemp())  # where no other test's lab removes them; a short path, for sockets
    monkeypatch.setenv("TMPDIR", str(room))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = Census.take()
    running, folder, theirs = at_work()
    running.kill()
    running.wait()
    assert before.leftovers() == []
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in theirs))
    assert (folder / "id_ed25519").exists()
    with Lab(cards=["cx7"]):
        assert not folder.exists()
        assert lab.key.exists()  # it lives
    assert before.leftovers() == []
    room.rmdir()


def at_work() -> tuple[subprocess.Popen[str], Path, list[int]]:
    """`make lab` with a session, a unit, a timer and ssh's own masters in it; its folder, and all that is inside."""
    running = subprocess.Popen([*COMMAND, "--cards", "cx7"], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    config = Path(next(line for line in running.stdout if "log in" in line).split(" -F ")[1].split()[0])
    inside = children(children(running.pid)[0])[0]
    enter = ["nsenter", "--target", str(inside), "--net", "--mount", "--pid"]
    options = ["-o", "ControlMaster=auto", "-o", f"ControlPath={config.parent}/%C", "-o", "ControlPersist=60s"]
    run = "systemd-run /usr/bin/sleep 600; systemd-run --on-active=600 /bin/true; setsid sleep 600 >/dev/null 2>&1 &"
    subprocess.run([*enter, "ssh", "-F", str(config), *options, "lab1", run], check=True, timeout=PATIENCE)
    theirs = descendants(inside)
    assert len(theirs) > 10
    return running, config.parent, theirs


def descendants(pid: int) -> list[int]:
    """A process and all below it; in a PID namespace, what lost its parent is below the first."""
    return [pid, *(below for child in children(pid) for below in descendants(child))]


def test_one_wrong_word_is_one_message() -> None:
    done = subprocess.run([*COMMAND, "--cards", "cx5"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "lab: card 'cx5': allowed: bf3, cx7, bf2, cx6dx\n")
    with pytest.raises(ValueError, match="inbox"):
        HostSpec("cx7", driver="other")
