"""`make lab` by default takes the lines of README and docs/howto/lab.md: what it prints is run as it is printed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from testbed.experiment.load import load, resolve
from tests.emulated_lab.by_hand import COMMAND
from tests.emulated_lab.spec import DEFAULT
from tests.support.checkout import ROOT
from tests.support.waiting import PATIENCE

README = (ROOT / "README.md").read_text()
LAB = (ROOT / "docs/howto/lab.md").read_text()


def test_the_readme_the_example_and_the_default_lab_fit() -> None:
    """As many hosts as the experiment of the README's line needs."""
    name = re.search(r"testbed run (\S+) --inventory lab.yml", README)
    assert name
    needed = resolve(load(name[1])).experiment.hosts
    example = yaml.safe_load((ROOT / "ansible/inventories/lab.yml").read_text())
    hosts = [host for group in example["roce_hosts"]["children"].values() for host in group["hosts"]]
    assert needed == len(hosts) == len(DEFAULT) == 5
    phases = [host for phase in ("canary", "wave1", "wave2") for host in example[phase]["hosts"]]
    assert sorted(phases) == sorted(hosts)


@pytest.fixture
def printed() -> Iterator[dict[str, str]]:
    """By its first word or words, each command of a lab that goes on meanwhile."""
    lab = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert lab.stdout is not None
        text = ""
        while "Ctrl-C ends it" not in text:
            line = lab.stdout.readline()
            assert line, text
            text += line
        text = text.replace("\\\n", " ")
        yield dict(re.split(r"  +", line, maxsplit=1) for line in text.splitlines() if re.match(r"[a-z ]+  +\S", line))
    finally:
        lab.send_signal(signal.SIGTERM)
        assert lab.wait(timeout=PATIENCE) == 0


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """As much of one as the lines need, for they write into it."""
    shutil.copytree(ROOT / "ansible", tmp_path / "ansible")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def typed(line: str, checkout: Path) -> subprocess.CompletedProcess[str]:
    """As it is printed; we are root already."""
    return subprocess.run(
        ["sh", "-c", line.replace("sudo ", "")],
        cwd=checkout, env=os.environ | {"ANSIBLE_HOME": str(checkout / "home")}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.root
@pytest.mark.parallel
@pytest.mark.slow
@pytest.mark.measures  # a channel that is silent for 5 s is lost
def test_the_default_lab_takes_the_page_s_lines(printed: dict[str, str], checkout: Path) -> None:
    """Variables, a playbook in check mode, and a run whose senders together are faster than one may be."""
    assert printed["variables"].removeprefix(".venv/bin/") in LAB
    check = "site.yml --check --diff -e @../experiment.json"
    assert check in LAB
    assert check in re.sub(r"\s+", " ", printed["a playbook"])
    made = typed(printed["variables"], checkout)
    assert made.returncode == 0, made.stderr
    played = typed(printed["a playbook"], checkout)
    assert played.returncode == 0, played.stdout + played.stderr
    assert "check mode: 5 of 5 hosts would be changed, and nothing was" in re.sub(r"\s+", " ", played.stdout)

    for out in ("first", "second", "third"):
        ran = typed(f"{printed['a run']} --out {out} --metrics-addr none --set record.report=off", checkout)
        assert ran.returncode in (0, 3), ran.stderr  # 3: this machine may be busy
        summary = json.loads((checkout / out / "summary.json").read_text())
        if summary["su"] is not None:  # there was a sample of the receiver's wire at both ends of the window
            break
    assert summary["bottleneck_rate"] == 200e9  # what the card says of its wire, and not what a sender may send
    assert 0 < summary["su"] <= 100
    assert summary["goodput"] > 0

    # An inventory that says less than what the wire carried is found out; one sender is enough for that.
    inventory = checkout / "lab.yml"
    known = yaml.safe_load(Path(printed["inventory"]).read_text())
    known["all"]["children"]["roce_hosts"]["hosts"]["lab2"]["testbed_port_rate"] = "5 Mbit/s"
    inventory.write_text(yaml.safe_dump(known))
    line = printed["a run"].replace(printed["inventory"], str(inventory))
    less = '--no-playbook --set traffic.senders=1 --set record.report=off --duration "0.5 s" --out wrong'
    ran = typed(f"{line} {less} --metrics-addr none", checkout)
    assert ran.returncode == 3, ran.stderr
    assert "the wire to lab2 is faster than its rate" in ran.stderr + ran.stdout
