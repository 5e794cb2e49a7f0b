"""The exports of all controllers, written once and compiled with the card of the rack."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from testbed.compiled.c_firmware import CARD
from testbed.sdk import jobs
from testbed.sdk.export.card import job as card_job
from testbed.sdk.jobs import JobContext
from tests.support.card.card import Card

FEED = Path(__file__).with_name("feed.c")
BY_HAND = ("adpg", "fixed", "swift")
WRITTEN = ("dcqcn", "dctcp", "hpcc", "powertcp", "timely")  # by the tool, from their Python
NAMES = (*BY_HAND, *WRITTEN)
STUB = f"-I{CARD}"
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-Wdouble-promotion", "-Wconversion", "-Wsign-conversion")
UNDEFINED = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")  # whatever C leaves open ends the process
Cards = Callable[..., Card]


def export(name: str, folder: Path, **options: object) -> Path:
    """Without the check that the command makes: `tests.sdk.export` has that."""
    plugin = jobs.find(name, "export") if name in BY_HAND else card_job.of(name)
    known = {} if name == "fixed" else {"base_rtt": "8 us"}
    folder.mkdir(parents=True, exist_ok=True)
    plugin.form.run(plugin.configure(None, {"to": "doca-pcc"} | known | options), JobContext(folder))
    return folder


@pytest.fixture(scope="session")
def exports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: export(name, tmp_path_factory.mktemp("export") / name) for name in NAMES}


@pytest.fixture(scope="session")
def libraries(exports: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, ctypes.CDLL]:
    """Device parts on the card."""
    made = {}
    for name, folder in exports.items():
        out = tmp_path_factory.mktemp("lib") / f"{name}.so"
        sources = [*(folder / "device").glob("*.c"), CARD / "card.c", FEED]
        flags = [*STRICT, STUB, f"-I{folder / 'device'}", *UNDEFINED, "-shared", "-fPIC", "-lm"]
        done = subprocess.run(["gcc", *flags, *sources, "-o", out], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        made[name] = ctypes.CDLL(str(out))
    return made


@pytest.fixture
def card(libraries: dict[str, ctypes.CDLL]) -> Cards:
    """A fresh card with a controller's program: ``card("swift", flows=2)``."""
    return lambda name, flows=1: Card(libraries[name], flows)
