"""testbed comes to a host that has no network, from wheels: the playbook, pip and the command that it installs."""

from __future__ import annotations

import json

import pytest

from testbed.engines.lab.operator.inventory import COMMAND
from testbed.engines.lab.protocol.code_digest import code_digest
from tests.emulated_lab.lab import Lab
from tests.support.checkout import ROOT
from tests.support.rollout import play
from tests.support.waiting import PATIENCE
from tests.support.wheel import wheelhouse

SERVE = "/opt/testbed/venv/bin/testbed exporter --listen 127.0.0.1:9465"
EXPORTED = f"{SERVE} & until curl -sf http://127.0.0.1:9465/metrics; do sleep 0.2; done; kill $!"


@pytest.mark.root
@pytest.mark.parallel
@pytest.mark.slow
def test_a_host_without_a_network_gets_testbed(tmp_path_factory: pytest.TempPathFactory) -> None:
    book, ours = (
        str(ROOT / "testbed/engines/lab/agents.yml"),
        {"testbed_digest": code_digest(), "testbed_command": COMMAND},
    )
    wheels = str(wheelhouse(tmp_path_factory))
    with Lab(cards=["cx7"]) as lab:
        (host,) = lab.hosts
        assert "default" not in host.run(["ip", "route"]).stdout
        here = ("--limit", host.name)
        assert play(lab, book, *here, testbed_wheelhouse=wheels, **ours).changed() > 0
        said = lab.ssh(host.name, "/opt/testbed/venv/bin/testbed agent --identify").stdout
        assert json.loads(said)["digest"] == code_digest()
        assert "# HELP testbed_" in lab.ssh(host.name, EXPORTED, timeout=PATIENCE).stdout
        assert play(lab, book, *here, testbed_wheelhouse=wheels, **ours).changed() == 0
