"""`testbed exporter` from outside: both of its processes, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from testbed.cli.exporter import exporter
from testbed.errors import BadInput
from tests.support.exported import BY_HOSTS
from tests.support.host_tree import plant, roll_out, tools

TESTBED = [sys.executable, "-c", "from testbed.cli.main import main; raise SystemExit(main())", "exporter"]
NOBODY = 65534
PATIENCE = 200.0  # s; on a busy machine a start takes a while


def environment(tmp_path: Path) -> dict[str, str]:
    path = f"{tools(tmp_path / 'tools')}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "ASKED": str(tmp_path / "asked"), "PYTHONDONTWRITEBYTECODE": "1"}


def run(*arguments: str, **options: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*TESTBED, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False, **options
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def anybody_s() -> Iterator[Path]:
    """A folder that other users may read, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_registers_are_read_by_one_process_and_served_by_another(anybody_s: Path) -> None:
    root, env = plant(anybody_s / "host"), environment(anybody_s)
    roll_out(root)
    assert run("--write-registers", "--root", str(root), env=env).returncode == 0
    file = root / "run/testbed/registers.json"
    (device,) = json.loads(file.read_text())["devices"].values()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert device["cc_params"] == {"rp_ai_rate": 50, "np_cnp_prio": 6}
    assert device["pcc"]["0"] == {
        "algorithm": "ADPG, trees", "enabled": True, "counters": {"RTT_EVENTS": 99},
        "parameters": {"START_RATE_FXP20": 65536, "LEAST_RATE_FXP20": 11},
    }  # fmt: skip
    assert device["errors"] == 1  # slot 15 has an algorithm and says nothing
    asked = (anybody_s / "asked").read_text().splitlines()
    assert all(line.startswith("-d 0000:03:00.0 -y --get ") for line in asked)

    file.chmod(0o644)  # as if the other one were in the group
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{one.getsockname()[1]}"
    user = NOBODY if os.geteuid() == 0 and os.access(sys.executable, os.X_OK) else None
    with subprocess.Popen([*TESTBED, "--listen", address, "--root", root], env=env, user=user) as serving:
        try:
            text = _scraped(address, serving)
            again = run("--listen", address, "--root", str(root), env=env)
            assert (again.returncode, f"--listen {address}: Address already in use" in again.stderr) == (2, True)
        finally:
            serving.send_signal(signal.SIGTERM)
        assert serving.wait(PATIENCE) == 0
    there = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    assert there == BY_HOSTS
    assert 'testbed_setting_drift{device="mlx5_0",name="pcc/START_RATE_FXP20"} 0.0' in text
    assert 'testbed_scrape_errors_total{file="registers of mlx5_0"} 1.0' in text


def _scraped(address: str, serving: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert serving.poll() is None
        try:
            with urlopen(f"http://{address}/metrics", timeout=5) as answer:
                return str(answer.read().decode())
        except OSError:
            time.sleep(0.05)
    raise AssertionError("nobody answers")


def test_registers_again_and_again_until_sigterm(tmp_path: Path) -> None:
    """With a distribution's tool, which has another name."""
    root, env = plant(tmp_path / "host"), environment(tmp_path)
    (mlxreg,) = tmp_path.glob("*/mlxreg")
    mlxreg.rename(mlxreg.with_name("mstreg"))
    file = root / "run/testbed/registers.json"
    arguments = ["--write-registers", "--every", "1", "--root", str(root)]
    with subprocess.Popen([*TESTBED, *arguments], env=env) as writing:
        written: set[float] = set()
        deadline = time.monotonic() + PATIENCE
        while len(written) < 2 and time.monotonic() < deadline:
            if file.exists():
                written.add(json.loads(file.read_text())["time"])
            time.sleep(0.05)
        writing.send_signal(signal.SIGTERM)
        assert writing.wait(PATIENCE) == 0
    assert len(written) == 2
    asked = (tmp_path / "asked").read_text()
    assert asked.count("cmd_type=0x5 ") == 2  # names of parameters are read once


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "say either --listen ADDRESS:PORT"),
        ({"listen": "127.0.0.1:1", "write_registers": True}, "say either"),
        ({"listen": "0.0.0.0:9465"}, "not on all addresses; name the management address"),
        ({"listen": "[::]:9465"}, "not on all addresses"),
        ({"listen": "9465"}, "expected the host's management address and a port"),
        ({"listen": "lab1:9465"}, "expected the host's management address and a port"),
        ({"listen": "127.0.0.1:0"}, "'0' is no port"),
        ({"listen": "127.0.0.1:9465", "every": 3}, "--every goes with --write-registers"),
        ({"write_registers": True, "root": Path("/nowhere")}, "there is no such folder, or it may not be read"),
    ],
)
def test_refusals(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        exporter(**options)


def test_an_address_that_is_not_ours_is_refused() -> None:
    done = run("--listen", "192.0.2.1:9465")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--listen 192.0.2.1:9465: Cannot assign requested address; name an address of this host" in done.stderr
