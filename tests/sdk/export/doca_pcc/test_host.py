"""The host's part, on a stub of DOCA: what it prints, how it ends, what it refuses."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE

STUB = Path(__file__).with_name("host")
ACTIVE = b"PCC host status Active\n"
DOWN = ["stopped", "destroyed", "closed"]


@pytest.fixture(scope="module")
def program(exports: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("host") / "testbed-pcc"
    sources = [exports["swift"] / "host" / "main.c", STUB / "doca_host.c"]
    command = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{STUB}", *sources, "-o", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def run(program: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_and_a_second_one_changes_nothing(program: Path, number: signal.Signals) -> None:
    with subprocess.Popen([program, "-d", "mlx5_0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == ACTIVE  # at once, though stdout is a pipe
        running.send_signal(number)
        running.send_signal(number)
        assert running.wait(PATIENCE) == 0
        assert running.stderr.read().decode().split() == ["opened", "created", "started", *DOWN]


def test_says_every_change_of_state_and_fails_when_the_card_gives_up(program: Path) -> None:
    done = run(program, "-d", "mlx5_0", STATES="11003")
    assert [line.rsplit(" ", 1)[1] for line in done.stdout.splitlines()] == ["Standby", "Active", "Error"]
    assert done.returncode == 3
    assert done.stderr.split()[-3:] == DOWN
    assert run(program, "-d", "mlx5_0", STATES="02").returncode == 3


def test_execution_units(program: Path) -> None:
    done = run(program, "-d", "mlx5_0", "-t", "176-178,240", STATES="3")
    assert [line.split()[1] for line in done.stderr.splitlines() if line.startswith("unit")] == [
        "176", "177", "178", "240",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "says"),
    [
        ([], {}, 2, "usage: testbed-pcc -d DEVICE"),
        (["-d", "mlx5_0", "more"], {}, 2, "usage"),
        (["-d", "mlx5_0", "-t", "12-"], {}, 2, "usage"),
        (["-d", "mlx5_0", "-t", "9-1"], {}, 2, "usage"),
        (["-d", "mlx5_0", "-t", "1,x"], {}, 2, "usage"),
        (["-d", "mlx5_7"], {}, 1, "there is no device mlx5_7"),
        (["-d", "mlx5_0"], {"UNSUPPORTED": "1"}, 1, "USER_PROGRAMMABLE_CC=1"),
        (["-d", "mlx5_0", "-t", "1-17"], {}, 1, "-t names 17 execution units, the card takes 1 to 16"),
        (["-d", "mlx5_0"], {"REFUSES_START": "1"}, 1, "the program cannot be started: not supported"),
    ],
)
def test_refusals(program: Path, arguments: list[str], environment: dict[str, str], code: int, says: str) -> None:
    done = run(program, *arguments, **environment)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert done.stderr.count("opened") == done.stderr.count("closed")
    assert done.stderr.count("created") == done.stderr.count("destroyed")
