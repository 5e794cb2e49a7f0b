"""The exports of controllers, written and compiled with the card of the rack when a test first asks for one."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from testbed.base.kept import made_once
from testbed.compiled.c_firmware import CARD
from testbed.sdk import jobs
from testbed.sdk.export.card import job as card_job
from testbed.sdk.jobs import JobContext
from tests.support.card.card import Card
from tests.support.workers import of_all_workers

FEED = Path(__file__).with_name("feed.c")
BY_HAND = ("adpg", "fixed", "swift")
WRITTEN = ("dcqcn", "dctcp", "hpcc", "powertcp", "timely")  # by the tool, from their Python
NAMES = (*BY_HAND, *WRITTEN)
STUB = f"-I{CARD}"
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-Wdouble-promotion", "-Wconversion", "-Wsign-conversion")
UNDEFINED = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")  # whatever C leaves open ends the process
Cards = Callable[..., Card]
Made = TypeVar("Made")


def export(name: str, folder: Path, **options: object) -> Path:
    """Without the check that the command makes: `tests.sdk.export` has that."""
    plugin = jobs.find(name, "export") if name in BY_HAND else card_job.of(name)
    known = {} if name == "fixed" else {"base_rtt": "8 us"}
    folder.mkdir(parents=True, exist_ok=True)
    plugin.form.run(plugin.configure(None, {"to": "doca-pcc"} | known | options), JobContext(folder))
    return folder


class OnDemand(dict[str, Made]):
    """By name, each made when somebody first asks for it."""

    def __init__(self, make: Callable[[str], Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> Made:
        self[name] = made = self._make(name)
        return made


@pytest.fixture(scope="session")
def exports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = of_all_workers(tmp_path_factory) / "exports"
    return OnDemand(lambda name: _made(folder / name, lambda new: export(name, new)))


@pytest.fixture(scope="session")
def libraries(exports: dict[str, Path]) -> dict[str, ctypes.CDLL]:
    """Device parts on the card."""

    def compiled(name: str) -> ctypes.CDLL:
        folder = exports[name]
        sources = [*(folder / "device").glob("*.c"), CARD / "card.c", FEED]
        flags = [*STRICT, STUB, f"-I{folder / 'device'}", *UNDEFINED, "-shared", "-fPIC", "-lm"]

        def compile_to(out: Path) -> None:
            done = subprocess.run(["gcc", *flags, *sources, "-o", out], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr

        return ctypes.CDLL(str(_made(folder.with_suffix(".so"), compile_to)))

    return OnDemand(compiled)


def _made(target: Path, make: Callable[[Path], object]) -> Path:
    """By the first worker that wants it, for all."""

    def whole() -> None:
        make(new := target.with_name(f"new-{target.name}"))
        new.rename(target)

    return made_once(target, whole)


@pytest.fixture
def card(libraries: dict[str, ctypes.CDLL]) -> Cards:
    """A fresh card with a controller's program: ``card("swift", flows=2)``."""
    return lambda name, flows=1: Card(libraries[name], flows)
