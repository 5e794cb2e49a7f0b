"""Where the wheel in dist/ runs: a root file system per distribution, a first figure in each without root and with.

`make where`, with mmdebstrap. Each system gets Python and nothing else, no
compiler above all. Ubuntu's keys come from Debian 13, whose archive signs the package that has them.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from release.wheels import ROOT

PYTHON = ("python3", "python3-venv", "ca-certificates", "libstdc++6")  # the last is what numpy needs
KERNEL = ("libbpf1", "iproute2", "iputils-ping", "ethtool", "procps")  # what Mininet calls, and libbpf
FIRST = ("testbed", "run", "incast-8", "--metrics-addr", "none", "--format", "json", "--set", "record.report=false")
HOME = "/opt/testbed"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
SHARED = ("/etc/resolv.conf", CERTIFICATES)  # how this machine reaches the rest


@dataclass(frozen=True)
class Distribution:
    """A release, and where its packages are."""

    name: str
    suite: str
    mirror: str
    keys: str = ""  # in Debian 13


UBUNTU = ("http://archive.ubuntu.com/ubuntu", "/usr/share/keyrings/ubuntu-archive-keyring.gpg")
DEBIAN = "http://deb.debian.org/debian"
DISTRIBUTIONS = (
    Distribution("Debian 13", "trixie", DEBIAN),  # first: it has the keys of Ubuntu
    Distribution("Debian 12", "bookworm", DEBIAN),
    Distribution("Ubuntu 24.04", "noble", *UBUNTU),
    Distribution("Ubuntu 26.04", "resolute", *UBUNTU),
)


@dataclass(frozen=True)
class Tried:
    """What a system said."""

    distribution: Distribution
    python: str
    megabytes: float  # installed, without Python
    seconds: float  # from nothing to the first figure
    virtual: str  # verdict
    kernel: str

    def __str__(self) -> str:
        d = self.distribution
        return (
            f"{d.name:<13}  Python {self.python:<7} {self.megabytes:>4.0f} MB  first figure in {self.seconds:>3.0f} s  "
            f"virtual: {self.virtual}  kernel: {self.kernel}"
        )


def try_in(distribution: Distribution, wheel: Path, folder: Path) -> Tried:
    """Install and run there, as nobody and as root. What fails is its own answer."""
    root = folder / distribution.suite
    made(distribution, root, folder)
    shutil.copy(wheel, root / "tmp")
    with mounted(root):
        python = said(root, "python3", "-c", "import platform; print(platform.python_version())")
        start = time.monotonic()
        said(root, "python3", "-m", "venv", HOME)
        pip = (f"{HOME}/bin/pip", "install", "--no-cache-dir", "--quiet", "--root-user-action=ignore")
        said(root, *pip, f"/tmp/{wheel.name}")
        virtual = verdict(root, *FIRST, "--engine", "virtual", user="nobody")
        seconds = time.monotonic() - start
        size = int(said(root, "du", "-sm", HOME).split()[0])
        said(root, *pip, f"/tmp/{wheel.name}[rack,compile]")
        kernel = verdict(root, *FIRST, user="root")
    return Tried(distribution, python, size, seconds, virtual, kernel)


def made(distribution: Distribution, root: Path, folder: Path) -> None:
    """The smallest system that has Python."""
    ours = (*PYTHON, *KERNEL) + (("ubuntu-archive-keyring",) if distribution.suite == "trixie" else ())
    components = "main,universe" if distribution.keys else "main"
    command = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", f"--include={','.join(ours)}"]
    if distribution.keys:
        command.append(f"--keyring={folder / 'trixie'}{distribution.keys}")
    command += [f"--components={components}", distribution.suite, str(root), distribution.mirror]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    for file in SHARED:
        shutil.copy(file, root / file[1:])


@contextmanager
def mounted(root: Path) -> Iterator[None]:
    """The kernel's file systems, as a machine that has booted this one would have them."""
    with ExitStack() as undo:
        subprocess.run(["mount", "--bind", "--make-private", root, root], check=True)  # a run makes its root private
        undo.callback(partial(subprocess.run, ["umount", "--recursive", root], check=True))
        for name in ("proc", "sys", "dev"):
            subprocess.run(["mount", "--rbind", "--make-rslave", f"/{name}", root / name], check=True)
        yield


def verdict(root: Path, *command: str, user: str) -> str:
    """Of a run: its word, or the last line of what it said."""
    done = _run(root, *command, user=user)
    if done.returncode not in (0, 3):
        return (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
    answer = json.loads(done.stdout)
    return f"{answer['verdict']['word']}, {answer['su']:.0f} % utilisation"


def said(root: Path, *command: str) -> str:
    done = _run(root, *command, user="root")
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed in {root}\n{done.stderr}")
    return done.stdout.strip()


def _run(root: Path, *command: str, user: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{HOME}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PIP_CERT": CERTIFICATES,
    }
    inside = ["chroot", f"--userspec={user}", str(root), "/usr/bin/env", "--chdir=/tmp", *command]
    return subprocess.run(
        inside, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def main() -> None:
    wheels = sorted((ROOT / "dist").glob(f"*_{platform.machine()}.whl"))
    if not wheels:
        sys.exit("there is no wheel for this machine in dist/: make dist")
    names = {one.suite: one for one in DISTRIBUTIONS}
    wanted = sys.argv[1:] or list(names)
    if unknown := [name for name in wanted if name not in names]:
        sys.exit(f"no such release: {', '.join(unknown)}; expected {', '.join(names)}")
    with TemporaryDirectory() as folder:
        if any(names[name].keys for name in wanted) and "trixie" not in wanted:
            made(names["trixie"], Path(folder) / "trixie", Path(folder))
        for one in DISTRIBUTIONS:
            if one.suite in wanted:
                print(try_in(one, wheels[-1], Path(folder)), flush=True)


if __name__ == "__main__":
    main()
