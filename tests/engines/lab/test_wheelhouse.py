"""testbed comes to a host that has no network, from wheels: the playbook, pip and the command that it installs."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import distribution, version
from pathlib import Path

import pytest

from testbed.engines.lab.protocol.code_digest import code_digest
from tests.emulated_lab.lab import Lab
from tests.engines.lab.wheels import closure, pack
from tests.support.checkout import ROOT
from tests.support.rollout import play
from tests.support.wheel import copy_of_source

ASKED = ["pydantic", "typer"]  # all that says who it is; agents.txt has the rest: numpy and more, 24 MB


BUILDS_WHEELS = int(version("setuptools").partition(".")[0]) >= 70
IMPORTS = """
import sys
import testbed.cli.main, testbed.engines.lab.exporter.serve, testbed.engines.lab.exporter.registers
import testbed.engines.lab.host.service, testbed.engines.lab.host.session
import testbed.cli.agent, testbed.cli.exporter
print(*{name.partition(".")[0] for name in sys.modules})
"""


def test_agents_and_exporters_import_nothing_that_hosts_do_not_get() -> None:
    needed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
    lines = (ROOT / "testbed/engines/lab/agents.txt").read_text().splitlines()
    gets = {line for line in lines if not line.startswith("#")}
    assert gets < needed
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True, cwd="/")
    others = {name.partition(">")[0] for name in needed - gets} - {"rich"}  # which typer brings
    assert others & set(done.stdout.split()) == set()


@pytest.fixture
def wheelhouse(tmp_path: Path) -> Path:
    """As `make wheelhouse` makes it, with fewer wheels."""
    house = tmp_path / "wheels"
    house.mkdir()
    source = copy_of_source(tmp_path)
    offline = ["--no-build-isolation", "--no-index"] if BUILDS_WHEELS else []  # torch has it with it
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *offline]
    subprocess.run([*pip, "--wheel-dir", str(house), str(source)], check=True, cwd=tmp_path)
    for one in closure(ASKED):
        pack(one, house)
    pack(distribution("pip"), tmp_path).rename(house / "pip.whl")
    (house / "agents.txt").write_text("\n".join(ASKED))
    with tarfile.open(tmp_path / "wheelhouse.tar", "w") as tar:
        tar.add(house, ".")
    return tmp_path / "wheelhouse.tar"


@pytest.mark.root
@pytest.mark.parallel
@pytest.mark.slow
def test_a_host_without_a_network_gets_testbed(wheelhouse: Path) -> None:
    book, ours = str(ROOT / "testbed/engines/lab/agents.yml"), {"testbed_digest": code_digest()}
    with Lab(cards=["cx7"]) as lab:
        (host,) = lab.hosts
        assert "default" not in host.run(["ip", "route"]).stdout
        here = ("--limit", host.name)
        assert play(lab, book, *here, testbed_wheelhouse=str(wheelhouse), **ours).changed() > 0
        said = lab.ssh(host.name, "/opt/testbed/venv/bin/testbed agent --identify").stdout
        assert json.loads(said)["digest"] == code_digest()
        assert play(lab, book, *here, testbed_wheelhouse=str(wheelhouse), **ours).changed() == 0
