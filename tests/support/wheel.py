"""A wheel of the checkout, and what `make wheelhouse` makes, without a network."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.checkout import ROOT
from tests.support.workers import of_all_workers

UVX = Path(sys.executable).with_name("uvx")
LEFT_BEHIND = {".git", ".venv", "build", "dist", "results", "tests"}


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    words = [str(part) for part in command]
    env = {**os.environ, **environment}
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wheelhouse(factory: pytest.TempPathFactory) -> Path:
    """The tar that `make wheelhouse` makes, once for all of `of_all_workers`."""
    folder = of_all_workers(factory) / "wheelhouse"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tar = folder / "source/dist/wheelhouse.tar"
        return tar if tar.exists() else make(folder)


def make(folder: Path) -> Path:
    """Where the package index has what is installed here."""
    index = folder / "index"
    index.mkdir()
    for one in closure(["cc-testbed", "numba", "pip", "setuptools"]):
        if one.name != "cc-testbed":
            pack(one, index)
    source = copy_of_source(folder)
    command = ("make", "--old-file=setup", "wheelhouse", f"HOSTS_PYTHON={sys.executable}")
    run(*command, cwd=source, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(index), PIP_COMPILE="0")
    return source / "dist/wheelhouse.tar"


def stand_in(folder: Path) -> Path:
    """A tar of wheels as well, whose testbed is this checkout's: as quickly installed as it is made."""
    pack(distribution("pip"), folder).rename(folder / "pip.whl")
    (folder / "install.txt").write_text("cc-testbed\n")
    described = "Metadata-Version: 2.1\nName: cc-testbed\nVersion: 1\n"
    tagged = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    inside = {
        "cc_testbed-1.data/scripts/testbed": f'#!/bin/sh\nexec {sys.prefix}/bin/testbed "$@"\n',
        "cc_testbed-1.dist-info/METADATA": described,
        "cc_testbed-1.dist-info/WHEEL": tagged,
    }
    record = "".join(f"{name},,\n" for name in (*inside, "cc_testbed-1.dist-info/RECORD"))
    with zipfile.ZipFile(folder / "cc_testbed-1-py3-none-any.whl", "w") as archive:
        for name, text in (inside | {"cc_testbed-1.dist-info/RECORD": record}).items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o100755 << 16  # pip takes from it that a script can be executed
            archive.writestr(entry, text)
    run("tar", "-cf", folder.with_suffix(".tar"), ".", cwd=folder)
    return folder.with_suffix(".tar")


@dataclass(frozen=True)
class Uvx:
    """`uvx --from cc_testbed-*.whl`, without a network: from a folder of wheels, with a cache of its own."""

    wheels: Path
    cache: Path

    @classmethod
    def of(cls, tar: Path, folder: Path) -> Uvx:
        """With what is in a wheelhouse, and nothing downloaded yet."""
        one = cls(folder / "wheels", folder / "cache")
        one.wheels.mkdir()
        run("tar", "-C", one.wheels, "-xf", tar, cwd=folder)
        return one

    def __call__(self, *arguments: str | Path) -> list[str]:
        """The command that runs ``arguments`` in the wheel's environment."""
        (wheel,) = self.wheels.glob("cc_testbed-*.whl")
        return [str(UVX), "--from", f"{wheel}[compile]", *map(str, arguments)]

    @property
    def environment(self) -> dict[str, str]:
        """Where it finds what it would download."""
        local = {"UV_FIND_LINKS": str(self.wheels), "UV_CACHE_DIR": str(self.cache), "UV_PYTHON": sys.executable}
        return local | {"UV_OFFLINE": "1", "UV_NO_INDEX": "1", "UV_PYTHON_DOWNLOADS": "never"}

    def clean(self, home: Path) -> dict[str, str]:
        """The same for somebody who has only downloaded it: no compiled programs, no bytecode, no list of fonts."""
        places = ("TESTBED_CACHE", "PYTHONPYCACHEPREFIX", "XDG_CACHE_HOME")
        return self.environment | {"HOME": str(home)} | {name: str(home / name) for name in places}


def copy_of_source(folder: Path) -> Path:
    """What a wheel is built from: setuptools writes build/ next to it, and not into the checkout."""
    source = folder / "source"
    source.mkdir()
    for entry in ROOT.iterdir():
        if entry.name not in LEFT_BEHIND and not entry.name.endswith(".egg-info"):
            run("cp", "-r", entry, source, cwd=folder)
    return source


def closure(names: list[str]) -> list[Distribution]:
    """These, and all that they need here."""
    found: dict[str, Distribution] = {}
    left = list(names)
    while left:
        one = distribution(left.pop())
        if one.name not in found:
            found[one.name] = one
            needs = [Requirement(text) for text in one.requires or []]
            left += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return list(found.values())


def pack(one: Distribution, folder: Path) -> Path:
    """The wheel that this was installed from, less what pip made, and what only its authors and compilers read."""
    listed = one.files or []
    left_out = {"..", "tests", "include"}
    inside = [file for file in listed if file.suffix != ".pyc" and not left_out & set(file.parts)]
    description = next(file for file in inside if file.name == "WHEEL" and file.parts[0].endswith(".dist-info"))
    tags = [line.removeprefix("Tag: ") for line in description.read_text().splitlines() if line.startswith("Tag: ")]
    columns = zip(*(tag.split("-") for tag in tags), strict=True)  # Python, ABI, platform: each may be several
    compressed = "-".join(".".join(dict.fromkeys(column)) for column in columns)
    wheel = folder / f"{description.parts[0].removesuffix('.dist-info')}-{compressed}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in inside:
            if file.name not in ("INSTALLER", "REQUESTED", "direct_url.json"):
                archive.write(str(file.locate()), str(file))
    return wheel
