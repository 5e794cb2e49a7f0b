"""`make dist`: the source archive, and of it one wheel for each kind of machine. Two calls make the same bytes.

The time in them is that of the last commit, or SOURCE_DATE_EPOCH.
"""

from __future__ import annotations

import gzip
import io
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from release.machines import MACHINES, Machine
from release.sbom import bill

ROOT = Path(__file__).parents[1]
BUILD = "import sys; from setuptools import build_meta as b; print(b.build_{what}(sys.argv[1], {settings}))"


def build(out: Path, machines: list[Machine]) -> list[Path]:
    """The files, in a folder which is made."""
    out.mkdir(parents=True, exist_ok=True)
    os.umask(0o022)  # modes are part of the bytes
    epoch = epoch_of()
    with TemporaryDirectory() as folder:
        tree = checked_in(Path(folder) / "tree")
        _setuptools(tree, Path(folder), "sdist", epoch)
        (made,) = Path(folder).glob("*.tar.gz")
        source = out / made.name
        source.write_bytes(repacked(made, epoch))
    return [source, *(wheel(source, out, machine, epoch) for machine in machines)]


def epoch_of() -> int:
    """SOURCE_DATE_EPOCH, or when the last commit was made."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or _said("git", "log", "-1", "--format=%ct"))


def checked_in(tree: Path) -> Path:
    """A copy of what git has, as it is now: nothing else gets into an archive, and nothing into the checkout."""
    for name in _said("git", "ls-files").splitlines():
        if (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
    return tree


def wheel(source: Path, out: Path, machine: Machine, epoch: int) -> Path:
    """Of a source archive, with everything compiled."""
    with TemporaryDirectory() as folder:
        shutil.unpack_archive(source, folder)
        (tree,) = Path(folder).iterdir()
        binaries = Path(folder) / "binaries"
        command = (sys.executable, "-m", "release.binaries", machine.name, binaries)
        subprocess.run(command, cwd=tree, env=os.environ | {"PYTHONPATH": str(tree)}, check=True)
        shutil.move(binaries, tree / "testbed/binaries")
        (tree / "sbom.cdx.json").write_text(bill(tree, epoch))
        name = _setuptools(tree, out, "wheel", epoch, f"--plat-name={machine.platform}")
    return out / name


def repacked(archive: Path, epoch: int) -> bytes:
    """The same files, in order, of nobody, at one time."""
    packed = io.BytesIO()
    with (
        tarfile.open(archive) as given,
        gzip.GzipFile("", "wb", 9, packed, mtime=epoch) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as written,
    ):
        for one in sorted(given.getmembers(), key=lambda one: one.name):
            one.mtime, one.uid, one.gid, one.uname, one.gname = epoch, 0, 0, "", ""
            one.mode = 0o755 if one.isdir() or one.mode & 0o100 else 0o644
            one.pax_headers = {}
            written.addfile(one, given.extractfile(one) if one.isfile() else None)
    return packed.getvalue()


def _setuptools(tree: Path, out: Path, what: str, epoch: int, *options: str) -> str:
    """The name of what it has made, by its standard interface (PEP 517)."""
    code = BUILD.format(what=what, settings={"--build-option": list(options)} if options else None)
    made_at = os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}
    return _said(sys.executable, "-c", code, str(out), cwd=tree, env=made_at).splitlines()[-1]


def _said(*command: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(command)} failed in {cwd}\n{done.stderr}")
    return done.stdout.strip()


def main() -> None:
    for file in build(ROOT / "dist", [MACHINES[name] for name in sys.argv[1:] or MACHINES]):
        print(f"{file}  {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
