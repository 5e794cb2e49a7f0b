"""Run a command under another kernel: Debian's user-mode-linux, booted on this machine's own root file system.

It has what a container's or CI machine's kernel may lack (netem, Open vSwitch, HTB, fq, RED), needs no root, and takes
about one second. Inside, the command is root in a machine of its own: one CPU, no devices, no network but loopback.

    done = run_in_uml(["tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "8ms"])
    assert done.returncode == 0, done.stderr

The root file system is read-only inside. `/tmp`, `/run` and `/dev/shm` are private and empty, the folders given as
`writable` are the host's. When the call ends, however it ends, all of it is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from testbed.base.compiler import LIBRARY_FLAGS, Unit
from tests.support.checkout import ROOT

UML = Path("/usr/bin/linux.uml")
MODULES = Path("/usr/lib/uml/modules")

# Loaded explicitly: nothing loads modules on demand inside, because there need not be a modprobe.
DEFAULT_MODULES = ("veth", "bridge", "sch_netem", "sch_tbf", "sch_ingress", "cls_bpf")

BOOT_SECONDS = 30.0  # from start to our init and from its end to power-off; usually one, more on a loaded machine

# What takes most of a boot and nobody needs: benchmarks of RAID 6, compressed swap, 256 old-style terminals.
UNUSED = ("initcall_blacklist=raid6_select_algo,init_zswap", "pty.legacy_count=0")

ALL_REGISTERS = Unit("all_registers", (Path(__file__).with_name("all_registers.c"),), ".so", LIBRARY_FLAGS)

# Runs the guest, prints its exit code, and cleans up once its own standard input closes, which also happens when this
# process is killed. The guest makes itself a process group; its helpers outlive a SIGKILL of its main process.
SUPERVISOR = """
trap '' PIPE
ulimit -c 0
exec 3<&0
"$@" </dev/null >"$0/console" 2>&1 3<&- & uml=$!
( read _ <&3; kill -KILL -$uml $uml 2>/dev/null ) &
wait $uml; echo $?
wait; rm -rf -- "$0"
"""


class UmlError(RuntimeError):
    """The guest did not get as far as running the command; carries the end of its console."""


def missing() -> str | None:
    """Why user-mode-linux cannot be used here, or None. For `pytest.mark.skipif`."""
    return None if UML.exists() else f"no {UML}: apt-get install user-mode-linux"


def run_in_uml(
    argv: Sequence[str | Path],
    *,
    timeout: float = 60.0,
    modules: Iterable[str] = DEFAULT_MODULES,
    memory: str = "512M",
    core: int = 0,
    writable: Iterable[Path] = (),
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Boot, run `argv` as root inside, power off; the same result as `subprocess.run(..., text=True)`.

    `timeout` is the command's, in seconds of the guest. It raises `subprocess.TimeoutExpired` with the output so far;
    `UmlError` if the guest could not boot. `env` is added to a minimal environment: nothing is inherited.
    `core`: its place among those that we may use; two guests that have to keep time need one each.
    `sys.executable` runs inside as it does here, with the same packages.
    """
    folder = Path(tempfile.mkdtemp(prefix="testbed-uml-"))
    try:
        job = {
            "argv": [str(arg) for arg in argv],
            "cwd": str(cwd),
            "env": {**_environment(), **(env or {})},
            "modules": module_files(modules),
            "read_only": _hidden([ROOT, Path(cwd), Path(sys.prefix), Path(sys.base_prefix)]),
            "timeout": timeout,
            "writable": [str(Path(path).resolve()) for path in writable],
        }
        (folder / "job.json").write_text(json.dumps(job))
        init = folder / "init"
        base = os.path.realpath(sys.executable)
        init.write_text(f"#!{base} -IS\n" + Path(__file__).with_name("init.py").read_text())
        init.chmod(0o755)
        with _booted(folder, init, memory, core, timeout + BOOT_SECONDS) as ended:
            return _collect(folder, job, ended)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def module_files(names: Iterable[str]) -> list[str]:
    """The files to load for these modules, in order, dependencies first. A module that is built in needs none."""
    root = next(MODULES.glob("*/modules.dep")).parent
    needs = {}
    for line in (root / "modules.dep").read_text().splitlines():
        file, _, rest = line.partition(":")
        needs[_module_name(file)] = [*reversed(rest.split()), file]
    built_in = {_module_name(line) for line in (root / "modules.builtin").read_text().splitlines()}
    files: dict[str, None] = {}
    for name in names:
        wanted = name.replace("-", "_")
        if wanted in built_in:
            continue
        if wanted not in needs:
            raise UmlError(f"user-mode-linux has no module '{name}' in {root}")
        files |= dict.fromkeys(str(root / file) for file in needs[wanted])
    return list(files)


def _module_name(file: str) -> str:
    return Path(file).stem.replace("-", "_")


def _environment() -> dict[str, str]:
    return {
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PATH": f"{Path(sys.executable).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",  # the root is read-only
        "SETUPTOOLS_USE_DISTUTILS": "stdlib",  # setuptools' takes mininet 1.3 s here: 4,000 page faults
        "PYTHONUNBUFFERED": "1",  # what was printed is there even if the command runs into its timeout
    }


def _hidden(paths: Iterable[Path]) -> list[str]:
    """Those of the folders that the guest's own tmpfs would hide, such as a checkout in /tmp."""
    covered = ("/tmp/", "/run/", "/dev/shm/")
    return sorted({str(path.resolve()) for path in paths if f"{path.resolve()}/".startswith(covered)})


def _memory_folder(folder: Path) -> str:
    """Where the guest's memory lies: it must be executable, and a container's /dev/shm often is not, nor big enough."""
    shm = Path("/dev/shm")
    if not shm.is_dir():
        return str(folder)
    fs = os.statvfs(shm)
    fits = fs.f_bavail * fs.f_frsize > 1 << 30 and not fs.f_flag & os.ST_NOEXEC
    return str(shm if fits else folder)


def _scheduled(core: int) -> list[str]:
    """What starts the guest: on one core, for its kernel and processes stop for each other, which on two cores costs
    twice as much; with real-time priority where we may, so that it keeps time although tests beside it want the cores.
    """
    one_core = ["taskset", "--cpu-list", str(sorted(os.sched_getaffinity(0))[core])]
    first = ["chrt", "--rr", "1"]
    may = subprocess.run([*first, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    return [*one_core, *(first if may else [])]


@contextlib.contextmanager
def _booted(folder: Path, init: Path, memory: str, core: int, limit: float) -> Iterator[str]:
    """Run the guest until it powers off or `limit` has passed; gives how it ended, removes everything afterwards."""
    argv = [
        *_scheduled(core),
        str(UML),
        f"mem={memory}",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        f"init={init}",
        f"uml_dir={folder}",  # else ~/.uml, which stays behind
        "umid=uml",
        "con=null",
        "con0=null,fd:1",
        "quiet",
        *UNUSED,
        "panic=-1",  # end at once instead of hanging
    ]
    process = subprocess.Popen(
        ["/bin/sh", "-c", SUPERVISOR, str(folder), *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C reaches it only through us
        env={**os.environ, "TMPDIR": _memory_folder(folder), "LD_PRELOAD": str(ALL_REGISTERS.compiled())},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        ready, _, _ = select.select([process.stdout], [], [], limit)
        yield (
            f"exit code {os.read(process.stdout.fileno(), 9).decode().strip()}"
            if ready
            else f"killed after {limit:.0f} s"
        )
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def _collect(folder: Path, job: dict[str, Any], ended: str) -> subprocess.CompletedProcess[str]:
    out, err = (_read(folder / name) for name in ("stdout", "stderr"))
    result = json.loads(_read(folder / "result.json") or "{}")
    if "returncode" not in result:
        console = "\n".join(_read(folder / "console").splitlines()[-40:])
        raise UmlError(
            f"user-mode-linux did not run {job['argv']} ({ended})\n{result.get('error', '')}\n{console}\n{err}"
        )
    if result["returncode"] is None:
        raise subprocess.TimeoutExpired(job["argv"], job["timeout"], out, err)
    return subprocess.CompletedProcess(job["argv"], result["returncode"], out, err)


def _read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
