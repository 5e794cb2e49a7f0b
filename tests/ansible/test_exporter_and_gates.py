"""The exporter on emulated hosts by its role, and rollouts that a real Prometheus stops between the waves."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.ansible.prometheus import ADDRESS, URL, needs_prometheus, prometheus, result
from tests.emulated_lab.host import Host
from tests.emulated_lab.lab import Lab
from tests.support.rollout import Played, experiment, phase, play, reset_attempts, settings_of
from tests.support.waiting import until
from tests.support.wheel import stand_in

pytestmark = [pytest.mark.root, pytest.mark.parallel, pytest.mark.slow, needs_prometheus]

PORT = 9465
SCRAPES = 5  # s between two, and for one at most; the soak has to be longer
UNITS = ("testbed-exporter.service", "testbed-registers.service")
INSTALLED = "/opt/testbed/exporter"
DRIFT = "sum(testbed_setting_drift{instance='10.99.0.11:9465'})"
GATED = {
    "verify_prometheus": URL,
    "verify_exporter": "http://{{ rollout_instance }}/metrics",
    "verify_soak_seconds": 2 * SCRAPES + 1,
    "rollout_serial": [1, 1],
}


def files(host: Host) -> set[str]:
    """What the role may write, and who may log in."""
    folders = [host.root / folder for folder in ("etc/systemd/system", "opt/testbed", "run/testbed")]
    users = {line.partition(":")[0] for line in host.read("/etc/passwd").splitlines()}
    return users | {str(file.relative_to(host.root)) for folder in folders for file in folder.rglob("*")}


def status(host: Host, unit: str) -> dict[str, str]:
    """Of a unit's process, as the kernel has it."""
    pid = host.run(["systemctl", "show", unit, "-p", "MainPID", "--value"]).stdout.strip()
    pairs = (line.partition(":") for line in host.read(f"/proc/{pid}/status").splitlines())
    return {key: value.strip() for key, _, value in pairs}


def ask(lab: Lab, query: str) -> list[float]:
    """Values that Prometheus has now."""
    url = f"{URL}/api/v1/query?{urlencode({'query': query})}"
    return result(lab.inside(["curl", "--silent", "--fail", "--max-time", "20", url]).stdout)


def happens(what: Callable[[], object]) -> None:
    """A play and scrapes of it, on a machine that is busy with other tests."""
    until(what, seconds=900, every=1)


def install(lab: Lab, wheels: Path) -> None:
    """The canary from wheels, the other with the checkout; and what the role does before, again, and against it.

    The wheels of `make wheelhouse` themselves: tests/engines/lab/test_wheelhouse.py.
    """
    canary = lab.hosts[0]
    folder = f"{{{{ '{INSTALLED}' if inventory_hostname == 'lab1' else '{sys.prefix}' }}}}"
    here = {
        "testbed_wheelhouse": f"{{{{ '{wheels}' if inventory_hostname == 'lab1' else '' }}}}",
        "exporter_executable": f"{folder}/bin/testbed",
    }
    before = files(canary)
    wrong = "{{ 'none.tar' if inventory_hostname == 'lab1' else '' }}"
    refused = play(lab, "exporter.yml", "--limit", "lab1:lab2", testbed_wheelhouse=wrong)
    refused.refused("set testbed_wheelhouse to its path", "'make wheelhouse' makes")
    assert play(lab, "exporter.yml", "--check", "--limit", "lab1", **here).changed() > 0
    assert files(canary) == before
    assert play(lab, "exporter.yml", **here).changed() > 0
    assert play(lab, "exporter.yml", "--limit", "lab1", **here).changed() == 0

    exporter, registers = (status(canary, unit) for unit in UNITS)
    group = canary.run(["getent", "group", "testbed"]).stdout.split(":")[2]
    assert exporter["Uid"].split()[0] == canary.run(["id", "-u", "testbed-exporter"]).stdout.strip() != "0"
    assert (exporter["Groups"], int(exporter["CapBnd"], 16), exporter["NoNewPrivs"]) == (group, 0, "1")
    assert (registers["Uid"].split()[0], registers["Gid"].split()[0]) == ("0", group)
    told = canary.root / "run/testbed/registers.json"
    assert (told.stat().st_mode & 0o777, str(told.stat().st_gid)) == (0o640, group)
    address = "".join(f"{int(part):02X}" for part in reversed(canary.address.split(".")))
    sockets = [line.split() for line in canary.run(["cat", "/proc/net/tcp"]).stdout.splitlines()]
    listening = [local for _, local, _, state, *_ in sockets[1:] if state == "0A" and local.endswith(f":{PORT:04X}")]
    assert listening == [f"{address}:{PORT:04X}"]


@contextmanager
def scraped(lab: Lab) -> Iterator[Callable[[], None]]:
    """A Prometheus where ansible-playbook runs, that sees all hosts; gives what ends it."""
    targets = [f"{host.address}:{PORT}" for host in lab.hosts]
    with prometheus(lab.folder / "prometheus", ADDRESS, lab.inside_command, targets, SCRAPES) as end:
        happens(lambda: ask(lab, "sum(up)") == [len(targets)])
        yield end


def test_exporter_and_gates(tmp_path_factory: pytest.TempPathFactory) -> None:
    wheels = stand_in(tmp_path_factory.mktemp("wheels"))
    with Lab(cards=["cx7", "cx6dx"]) as lab:
        canary, second = lab.hosts
        untouched = files(canary)
        install(lab, wheels)
        factory = [settings_of(host) for host in lab.hosts]
        with scraped(lab) as end_prometheus:
            # The canary alone. What Prometheus and the exporter said let it pass: installed policy, no drift.
            assert play(lab, "site.yml", rollout_hosts="canary", **experiment(**GATED)).changed() > 0
            assert phase(canary) == "promoted"
            happens(lambda: ask(lab, DRIFT) == [0])
            rate = f"sys/class/net/{canary.interface}/ecn/roce_rp/rpg_ai_rate"
            canary.run(["sh", "-c", f"echo 77 > /{rate}"])
            happens(lambda: ask(lab, DRIFT) == [1])
            drifted = settings_of(canary)

            # The canary's gate opens, as its drift is gone; the next host does not pass, and both go back.
            second.count("rp_cnp_ignored", add=5)
            query = "testbed_nic_rp_cnp_ignored_total{instance='{{ rollout_instance }}'}"
            more = {**GATED, "verify_queries": [{"query": query, "most": 0}]}
            failed = play(lab, "site.yml", rollout="r2", **experiment(**more))
            failed.refused("rollout r2: lab2: Ask Prometheus: gate testbed_nic_rp_cnp_ignored", "is 5; at most 0")
            assert [phase(host) for host in lab.hosts] == ["rolled_back"] * 2
            assert second.calls("write")
            assert [settings_of(host) for host in lab.hosts] == [drifted, *factory[1:]]
            happens(lambda: ask(lab, DRIFT) == [1])  # the exporter can read what was put back

            # Prometheus dies while the canary soaks: it goes back, and nobody else is touched.
            writes = len(second.calls("write"))
            ended: list[Played] = []
            run = threading.Thread(
                target=lambda: ended.append(play(lab, "site.yml", rollout="r3", **experiment(**GATED)))
            )
            run.start()
            happens(lambda: phase(canary) == "soak" or ended)
            end_prometheus()
            run.join()
            ended[0].refused("rollout r3: lab1: Ask Prometheus: Prometheus at", "does not answer")
            assert settings_of(canary) == drifted
            assert len(second.calls("write")) == writes

        # Without it the next rollout does not begin.
        known = canary.read("/var/lib/testbed/state.json")
        play(lab, "site.yml", rollout="r4", **experiment(**GATED)).refused(
            "does not answer", "nothing passes without it"
        )
        assert canary.read("/var/lib/testbed/state.json") == known
        assert [reset_attempts(host) for host in lab.hosts] == [[], []]

        assert play(lab, "exporter.yml", "--limit", "lab1", exporter_state="absent").changed() > 0
        left = files(canary) - untouched
        assert not [name for name in left if "exporter" in name or "registers" in name], left
