"""The loader's life: states, signals, and what a hard end leaves behind."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.emulated_lab import machine
from tests.emulated_lab.conftest import MakeStore
from tests.emulated_lab.fakes import doca_pcc
from tests.emulated_lab.store import Store
from tests.support.checkout import ROOT
from tests.support.waiting import PATIENCE, until

PROGRAM = """\
import os, sys
sys.path.insert(0, {checkout!r})
from pathlib import Path
from tests.emulated_lab.fakes import doca_pcc
from tests.emulated_lab.store import Store
doca_pcc.CLEANING = float(os.environ.get("CLEANING", "0.1"))
sys.exit(doca_pcc.main(sys.argv[2:], Store(Path(sys.argv[1]))))
"""
Start = Callable[..., subprocess.Popen[str]]
LINES = {"_STDBUF_O": "L"}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `doca_pcc` on the state in ``tmp_path``; ends it at the end of the test, if it still runs."""
    started = []
    program = tmp_path / "doca_pcc"
    program.write_text(PROGRAM.format(checkout=str(ROOT)))

    def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(program), str(tmp_path), "-d", "mlx5_0", *arguments], stdout=subprocess.PIPE,
            text=True, env={"PATH": os.environ["PATH"], **environment},
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def says(process: subprocess.Popen[str]) -> str:
    """The last word of the next line that it prints."""
    assert process.stdout is not None
    return process.stdout.readline().split()[-1]


def catches(pid: int, number: signal.Signals) -> bool:
    caught = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())
    return caught is not None and bool(int(caught[1], 16) >> (number - 1) & 1)


def test_one_sigint_is_clean_and_the_next_one_is_active(make_store: MakeStore, start: Start) -> None:
    store = make_store("bf3")
    first = start(**LINES)
    assert says(first) == "Active"
    assert store.read()["ppcc"]["0"]["text"].startswith("RTT_TEMPLATE,")
    second = start(**LINES)
    assert says(second) == "Standby"
    first.send_signal(signal.SIGINT)
    assert first.wait() == 0
    assert says(second) == "Active"  # it took over
    second.send_signal(signal.SIGINT)
    assert second.wait() == 0
    assert store.read()["pcc"]["owner"] is None
    assert "0" not in store.read()["ppcc"]


@pytest.mark.parametrize("ends", [[signal.SIGKILL], [signal.SIGTERM], [signal.SIGINT, signal.SIGINT]])
def test_any_other_end_leaves_a_ghost_until_the_power_is_cut(
    make_store: MakeStore, start: Start, ends: list[signal.Signals]
) -> None:
    store = make_store("bf3")
    first = start(**LINES, CLEANING="60")
    assert says(first) == "Active"
    for number in ends:
        first.send_signal(number)
        until(lambda: first.poll() is not None or not catches(first.pid, signal.SIGINT))  # it has seen the first
    assert first.wait() == -ends[-1]
    assert doca_pcc.ghost(store.read())
    store.write(machine.boot(store.read(), power=False))
    waiting = start("-w", "1", **LINES)
    assert says(waiting) == "Standby"
    assert waiting.wait() == 0
    store.write(machine.boot(store.read(), power=True))
    assert says(start("-w", "1", **LINES)) == "Active"


@pytest.mark.parametrize("state", ["error", "deactivated"])
def test_exit_code_is_0_when_it_lost_the_device(make_store: MakeStore, start: Start, state: str) -> None:
    store = make_store("bf3")
    process = start(**LINES)
    assert says(process) == "Active"
    with store.edit() as now:
        now["faults"]["pcc"] = state
    assert says(process) == state.capitalize()
    assert process.wait() == 0


def test_output_to_a_pipe_waits_in_a_buffer(make_store: MakeStore, start: Start) -> None:
    store = make_store("bf3")
    process = start()
    until(lambda: store.read()["pcc"]["owner"] is not None)
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], 0.3)[0] == []
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0
    assert "PCC host status Active" in process.stdout.read()


@pytest.mark.parametrize(
    ("card", "arguments", "reason"),
    [
        ("bf3 USER_PROGRAMMABLE_CC=0", [], "PCC CONFIG object is not supported"),
        ("cx7", [], "PCC CONFIG object is not supported"),
        ("bf3 DPA_AUTHENTICATION=1", [], "0x8f333"),
        ("bf3", ["-w", "0"], "Wait time"),
    ],
)
def test_refusals(make_store: MakeStore, start: Start, card: str, arguments: list[str], reason: str) -> None:
    card, _, setting = card.partition(" ")
    store = make_store(card)
    if setting:
        key, value = setting.split("=")
        with store.edit() as state:
            state["nvconfig"][key].update(current=int(value), next=1 - int(value))  # what is staged does not count
    process = start(*arguments)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    assert reason in out
    assert store.read()["pcc"]["owner"] is None


def test_a_program_brings_its_own_algorithm(make_store: MakeStore, start: Start, tmp_path: Path) -> None:
    from tests.emulated_lab import ppcc

    store = make_store("bf3")
    algorithm = ppcc.algorithm(0xAD960100, "MINE, a test's", [ppcc.parameter("AIM, share", 5)], ["EVENTS, all"])
    (tmp_path / "doca_pcc.json").write_text(json.dumps(algorithm))
    process = start(**LINES)
    assert says(process) == "Active"
    assert store.read()["ppcc"]["0"] == algorithm


def test_state_of_a_dead_owner(make_store: MakeStore) -> None:
    store: Store = make_store("bf3")
    assert not doca_pcc.ghost(store.read())
    with store.edit() as state:
        state["pcc"]["owner"] = {"pid": os.getpid(), "started": "another process's"}  # the number was used again
    assert doca_pcc.ghost(store.read())
