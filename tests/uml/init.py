"""Process 1 of a user-mode-linux guest: mount, load modules, run one command, leave its result, power off.

`harness.py` copies this file beside `job.json` into the folder that host and guest share. It runs with `python -IS`,
so that it starts quickly and sees no site packages; it must therefore stay within the standard library.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import time
import traceback
from pathlib import Path
from typing import Any

FINIT_MODULE = 313  # x86-64; called by number, because minimal systems have no insmod
MS_RDONLY, MS_NOSUID, MS_NODEV = 1, 2, 4
POWER_OFF = 0x4321FEDC
SIOCSIFFLAGS, IFF_UP = 0x8914, 1

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def mount(kind: str, target: str, flags: int = 0, options: str = "") -> None:
    check(libc.mount(kind.encode(), target.encode(), kind.encode(), flags, options.encode()), f"mount {kind} {target}")


def mount_all(job: dict[str, Any], shared: str) -> None:
    mount("proc", "/proc")
    mount("sysfs", "/sys")
    mount("bpf", "/sys/fs/bpf")
    for target in ("/tmp", "/run", "/dev/shm"):
        Path(target).mkdir(exist_ok=True)  # /dev is a fresh devtmpfs
        mount("tmpfs", target, MS_NOSUID | MS_NODEV)
    Path("/dev/pts").mkdir(exist_ok=True)
    mount("devpts", "/dev/pts")
    # What the new tmpfs hide comes back at its own path: hostfs takes any folder of the host as its option.
    for folder in job["read_only"]:
        Path(folder).mkdir(parents=True, exist_ok=True)
        mount("hostfs", folder, MS_RDONLY, folder)
    for folder in [shared, *job["writable"]]:
        Path(folder).mkdir(parents=True, exist_ok=True)
        mount("hostfs", folder, 0, folder)


def load_modules(files: list[str]) -> None:
    for name in files:
        with Path(name).open("rb") as file:
            check(libc.syscall(FINIT_MODULE, file.fileno(), b"", 0), f"load module {name}")


def loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def run(job: dict[str, Any], shared: str) -> dict[str, Any]:
    mount_all(job, shared)
    load_modules(job["modules"])
    loopback_up()
    result: dict[str, Any] = {"boot": time.monotonic()}
    out, err = Path(shared, "stdout"), Path(shared, "stderr")
    with out.open("wb") as stdout, err.open("wb") as stderr:
        try:
            done = subprocess.run(
                job["argv"],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=job["cwd"],
                env=job["env"],
                timeout=job["timeout"],
                check=False,
            )
            result["returncode"] = done.returncode
        except subprocess.TimeoutExpired:
            result["returncode"] = None
    return result


def main() -> None:
    shared = str(Path(__file__).parent)
    job = json.loads(Path(shared, "job.json").read_text())
    try:
        result = run(job, shared)
    except BaseException:  # noqa: BLE001 - process 1 must not end, or the kernel panics and the reason is lost
        result = {"error": traceback.format_exc()}
    print("result:", result, flush=True)  # also on the console, should the shared folder not be writable
    try:
        Path(shared, "result.json").write_text(json.dumps(result))
    finally:
        os.sync()  # hostfs writes lie in the guest's page cache until now
        libc.reboot(POWER_OFF)


if __name__ == "__main__":
    main()
