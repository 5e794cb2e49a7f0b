"""What this machine can do, and the command that gets what is missing.

`examine` looks at everything and never raises; `require` looks at what a run cannot do without and raises one message.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from testbed.agent import build
from testbed.base import extras
from testbed.base.compiler import FOR_EBPF, compiler
from testbed.engines.kernel import features, scheduling
from testbed.errors import TestbedError
from testbed.fidelity.processors import STOLEN, WINDOW_SECONDS, Processors

OLDEST_TESTED = (6, 1)
LEAST_MEMORY = 1e9  # bytes that a run with 64 hosts may use
GOOD_CLOCKS = {"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"}
MODULES = {
    "TBF": "sch_tbf",
    "HTB": "sch_htb",
    "netem": "sch_netem",
    "cls_bpf": "cls_bpf",
    "bridge": "bridge",
    "Open vSwitch": "openvswitch",
}
WITHOUT = {
    "netem": "; the delay line delays instead",
    "HTB": "; only PFC between switches needs it",
    "Open vSwitch": "; the bridge forwards",
}
BPFFS = Path("/sys/fs/bpf")
PACKAGES = ("mininet",)
NATIVE_PROGRAM = "#include <math.h>\n#include <asm/types.h>\n__u32 f(void) { return 0; }\n"
BPF_PROGRAM = '#include <linux/bpf.h>\n#include <bpf/bpf_helpers.h>\nSEC("tc") int f(void *c) { return 0; }\n'

Status = Literal["ok", "missing", "optional", "unknown"]


@dataclass(frozen=True)
class Probe:
    """One thing that was looked at. ``optional`` means: not there, and a run does without."""

    name: str
    status: Status
    detail: str = ""
    get: str = ""  # the command that gets it


def examine() -> list[Probe]:
    """All probes, in the order in which a reader wants them."""
    compilers = [_for_own_code(probe) if build.all_shipped() else probe for probe in _compilers()]
    return [*_required(), *compilers, *_helpful()]


def require() -> None:
    """Raise one message with all that a run needs and this machine lacks, before anything is built.

    BadInput if it is packages, else TestbedError.
    """
    if os.geteuid() != 0:  # first: what else is missing is no matter to whoever goes on without it
        raise TestbedError("real packets need root: sudo testbed run ...; or without it: --engine virtual")
    extras.need(*PACKAGES)
    compiled = build.all_compiled()  # then no compiler is needed, and trying it takes time
    needed = [*_required(), *([] if compiled else _compilers())]
    missing = [probe for probe in needed if probe.status == "missing"]
    if missing:
        lines = [f"  {probe.name}: {probe.detail}; {probe.get or 'see testbed doctor'}" for probe in missing]
        raise TestbedError("this machine cannot run a rack yet:\n" + "\n".join(lines))


def worst(probes: list[Probe]) -> Status:
    """``missing`` if anything required is, else ``unknown`` if something could not be seen, else ``ok``."""
    found = {probe.status for probe in probes}
    return "missing" if "missing" in found else "unknown" if "unknown" in found else "ok"


def as_lines(probes: list[Probe]) -> Iterator[str]:
    """Plain text, one line per probe."""
    for probe in probes:
        get = f" ({probe.get})" if probe.get else ""
        yield f"{probe.status:<8}  {probe.name:<15}  {probe.detail}{get}".rstrip()


def as_dicts(probes: list[Probe]) -> list[dict[str, Any]]:
    """For JSON."""
    return [asdict(probe) for probe in probes]


def apt(*packages: str) -> str:
    """The command that installs packages here, or their names where apt is not the tool."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    if shutil.which("apt-get"):
        return f"run: {sudo}apt install {' '.join(packages)}"
    return f"install what Debian calls {' '.join(packages)}"


def _compilers() -> Iterator[Probe]:
    yield Probe("C compiler", *_compiler())
    yield Probe("clang", *_clang())


def _for_own_code(probe: Probe) -> Probe:
    """Where the wheel brought everything compiled."""
    if probe.status != "missing":
        return probe
    return replace(probe, status="optional", detail=f"{probe.detail}; only a plugin of your own needs it")


def _required() -> Iterator[Probe]:
    root = os.geteuid() == 0
    yield Probe("root", "ok" if root else "unknown", "" if root else "not root now", "" if root else "run it with sudo")
    release = platform.release()
    yield Probe("kernel", *_kernel_version(release))
    yield Probe("libbpf", *_libbpf())
    yield Probe("Python packages", *_packages())
    answers = features.ask()
    for feature in features.REQUIRED:
        yield _kernel_probe(feature, answers.get(feature, "not asked"), "missing")


def _helpful() -> Iterator[Probe]:
    answers = features.ask()
    for feature in features.OPTIONAL:
        yield _kernel_probe(feature, answers.get(feature, "not asked"), "optional")
    yield Probe("switch", *_switch(answers.get(features.TCX, "not asked")))
    yield Probe("BTF", *_path_exists("/sys/kernel/btf/vmlinux", "the kernel has no type information"))
    yield Probe("BPF JIT", *_jit())
    cores = len(os.sched_getaffinity(0))
    yield Probe("cores", "ok" if cores > 1 else "optional", f"{cores}, each serves a share of the hosts")
    yield Probe("memory", *_memory())
    yield Probe("clock", *_clock())
    yield Probe("timers", *_timers())
    yield Probe("real time", *_real_time())
    yield Probe("stolen time", *_stolen())
    yield Probe("/proc/sys", *_writable("/proc/sys/net/core/rmem_max"))
    uml = shutil.which("linux.uml")
    yield Probe("user-mode Linux", *(("ok", uml) if uml else ("optional", "for tests", apt("user-mode-linux"))))
    tshark = shutil.which("tshark")
    yield Probe("tshark", *(("ok", tshark) if tshark else ("optional", "for tests", apt("tshark"))))


Finding = tuple[Status] | tuple[Status, str] | tuple[Status, str, str]


def _kernel_probe(feature: str, answer: str, without: Status) -> Probe:
    if not answer:
        return Probe(feature, "ok")
    if answer == features.NEEDS_ROOT:
        return Probe(feature, "unknown", answer, "run it with sudo")
    return Probe(feature, without, answer + WITHOUT.get(feature, ""), _get_module(feature))


def _get_module(feature: str) -> str:
    module = MODULES.get(feature)
    if module is None:
        return "boot a kernel of Debian 12, Ubuntu 24.04 or newer"
    if module == "sch_netem" and "ubuntu" in _distribution():
        return apt(f"linux-modules-extra-{platform.release()}")
    return f"run: modprobe {module} (a kernel with modules: apt install linux-image-$(dpkg --print-architecture))"


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("ID", "")
    except OSError:
        return ""


def _kernel_version(release: str) -> Finding:
    parts = release.replace("-", ".").split(".")
    version = tuple(int(part) for part in parts[:2] if part.isdecimal())
    if version >= OLDEST_TESTED:
        return "ok", release
    return "optional", f"{release} is older than what is tested ({'.'.join(map(str, OLDEST_TESTED))})"


def _compiler() -> Finding:
    """For compiled controllers, simulations, and decisions in results: on a lab operator's machine as well."""
    command = compiler()
    if not command:
        return "missing", "no clang, gcc, cc or $CC", apt("gcc")
    failure = _try([*command, "-shared", "-fPIC"], NATIVE_PROGRAM)
    if not failure:
        return (
            "ok",
            f"{shlex.join(command)}; for controllers, --engine virtual and the decisions in results",
        )
    return "missing", f"{command[0]} cannot compile: {failure}", apt("gcc", "libc6-dev", "linux-libc-dev")


def _clang() -> Finding:
    clang = shutil.which("clang")
    if clang is None:
        return "missing", "not installed; eBPF, which real packets go through, needs it", apt("clang")
    folders = [f"-I{folder}" for folder in sorted(Path("/usr/include").glob("*-linux-gnu"))]
    failure = _try([clang, "-O2", *FOR_EBPF, *folders, "-c"], BPF_PROGRAM)
    if not failure:
        return "ok", clang
    return "missing", f"cannot compile for bpf: {failure}", apt("clang", "libbpf-dev", "linux-libc-dev")


def _try(command: list[str], program: str) -> str:
    """Compile a program; returns the first error, or nothing."""
    command = [*command, "-x", "c", "-", "-o", "/dev/null"]
    done = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    return next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip())


def _libbpf() -> Finding:
    try:
        ctypes.CDLL("libbpf.so.1")
    except OSError:
        return "missing", "libbpf.so.1 is not there", apt("libbpf1")
    return ("ok",)


def _packages() -> Finding:
    missing = extras.missing(*PACKAGES)
    if missing:
        return "missing", f"{', '.join(missing)}: not installed", f"run: {extras.how_to_get(missing)}"
    return ("ok",)


def _switch(tcx: str) -> Finding:
    """What `testbed switch attach` needs besides what a rack does."""
    if tcx == features.NEEDS_ROOT:
        return "unknown", tcx, "run it with sudo"
    if tcx:
        return "optional", f"testbed switch needs tcx: {tcx}", "boot Linux 6.6 or newer"
    if not BPFFS.is_dir():
        return "optional", f"testbed switch needs {BPFFS}, which is not there", "run: mount -t sysfs sysfs /sys"
    return "ok", f"{BPFFS} is mounted" if BPFFS.is_mount() else f"testbed switch attach mounts {BPFFS}"


def _path_exists(path: str, otherwise: str) -> Finding:
    return ("ok", path) if Path(path).exists() else ("optional", otherwise)


def _jit() -> Finding:
    file = Path("/proc/sys/net/core/bpf_jit_enable")
    try:
        on = file.read_text().strip() != "0"
    except PermissionError:
        return "unknown", features.NEEDS_ROOT, "run it with sudo"
    except OSError:
        return "optional", "the kernel has none: eBPF is interpreted, which is slower"
    return ("ok",) if on else ("optional", "off: eBPF is interpreted", f"run: echo 1 > {file}")


def _memory() -> Finding:
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    return "ok" if free > LEAST_MEMORY else "optional", f"{free / 1e9:.1f} GB free"


def _clock() -> Finding:
    try:
        source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource").read_text().strip()
    except OSError:
        return "optional", "its source cannot be read"
    return ("ok", source) if source in GOOD_CLOCKS else ("optional", f"{source}: reading it may be slow")


def _timers() -> Finding:
    late = []
    for _ in range(50):
        before = time.perf_counter()
        time.sleep(100e-6)
        late.append(time.perf_counter() - before - 100e-6)
    median, largest = statistics.median(late), max(late)
    detail = f"a sleep ends {median * 1e6:.0f} us late (median), {largest * 1e6:.0f} us at most"
    return "ok" if median < 1e-3 else "optional", detail


def _real_time() -> Finding:
    model = scheduling.preemption()
    held = (
        "" if model in (*scheduling.INTERRUPTING, "") else f"; they wait for system calls of others (preempt={model})"
    )
    detail = f"agents that need a whole core lose {scheduling.taken():.0%} of it, at once{held}"
    return ("optional", detail, "boot with preempt=full") if held else ("ok", detail)


def _stolen() -> Finding:
    """Time is only stolen from a core that wants to run, so this one does, now and then."""
    cores, end = Processors(), time.monotonic() + WINDOW_SECONDS
    while time.monotonic() < end:
        time.sleep(500e-6)
    cores.sample()
    detail = f"other virtual machines took {cores.stolen:.0%} of a core's time just now"
    if cores.stolen > STOLEN:
        return "optional", f"{detail}, in stops of milliseconds: runs may be degraded until they are quiet"
    return "ok", detail


def _writable(path: str) -> Finding:
    if os.geteuid() != 0:
        return "unknown", features.NEEDS_ROOT, "run it with sudo"
    return ("ok",) if os.access(path, os.W_OK) else ("optional", "read-only: a container without --privileged?")
