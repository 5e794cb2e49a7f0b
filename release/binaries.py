"""Everything that a wheel brings compiled, made for one kind of machine: `python -m release.binaries MACHINE FOLDER`.

The packages are those in the current folder, whose sources may be newer than what is installed. Nothing of this machine
gets into a file: no path, no time, none of its processor's own instructions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from release.machines import MACHINES, Machine
from testbed.agent.build import UNITS as RACK
from testbed.base.compiler import FOR_EBPF, PACKAGE, SHIPPED, Unit, compile_to
from testbed.base.fields import Stateful
from testbed.compiled.c_library import GUARD
from testbed.compiled.layout import record
from testbed.compiled.machine import emitted, shipped_name
from testbed.compiled.source import Translation, translated
from testbed.controller import Path as FlowPath
from testbed.engines.apps.delay import DELAY
from testbed.engines.fluid.core import MODEL
from testbed.engines.virtual.build import WORLDS
from testbed.errors import BadInput
from testbed.live.samples import SAMPLES
from testbed.registry import CHOOSER, RECEIVER, available
from testbed.results.trace import ROWS
from testbed.sdk.export.c.compare import COMPARE

UNITS = (*RACK, *WORLDS, MODEL, SAMPLES, ROWS, GUARD, DELAY, COMPARE)
SOMEWHERE = f"-ffile-prefix-map={PACKAGE.parent}=."
FLOW = FlowPath(line_rate=100e9, base_rtt=8e-6, longest_rtt=8e-6, hops=1, payload=1000, wire_size=1100)
GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}  # numba optimises before we say for which machine


def compile_unit(unit: Unit, machine: Machine, folder: Path) -> None:
    """Debug information stays in eBPF alone: it has the types that the kernel checks."""
    target = folder / unit.file_name
    if FOR_EBPF[1] in unit.flags:
        compile_to(target, unit.sources, (*unit.flags, SOMEWHERE))
    else:
        flags = tuple(flag for flag in unit.flags if not flag.startswith("-g"))
        compile_to(target, unit.sources, (*flags, "-s", SOMEWHERE), machine.compiler)


def compile_plugins(machine: Machine, folder: Path) -> None:
    """Of all that are installed and can be compiled, each preset."""
    with TemporaryDirectory() as scratch:
        for form, translation, name in plugins():
            made = Path(scratch) / f"{form.__name__}.o"
            made.write_bytes(emitted(translation, record(form, translation.controller.config), machine.target))
            compile_to(folder / name, (made,), ("-shared", "-s", "-lm", "-Wl,-z,defs"), machine.compiler)


def plugins() -> Iterator[tuple[type[Stateful], Translation, str]]:
    """Class, translation, and the name of the library; each once."""
    seen = set()
    for plugin in [one for kind in ("controller", CHOOSER, RECEIVER) for one in available(kind)]:
        if not (issubclass(plugin.form, Stateful) and plugin.form.compiled):
            continue
        for preset in plugin.form.presets or [None]:
            config = plugin.configure(preset, {})
            translation = translated(plugin.form(config, FLOW))
            name = shipped_name(translation, record(plugin.form, config))
            if name not in seen:
                seen.add(name)
                yield plugin.form, translation, name


def make(machine: Machine, folder: Path) -> None:
    """Into a folder, which is empty or new."""
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in [pool.submit(compile_unit, unit, machine, folder) for unit in UNITS]:
            done.result()
    compile_plugins(machine, folder)


def main() -> None:
    if any(os.environ.get(name) != value for name, value in GENERIC.items()):
        os.execve(sys.executable, [sys.executable, "-m", "release.binaries", *sys.argv[1:]], os.environ | GENERIC)
    name, folder = sys.argv[1:]
    if SHIPPED.exists():
        raise BadInput(f"{SHIPPED} exists: this is made from sources that have nothing compiled beside them")
    make(MACHINES[name], Path(folder))


if __name__ == "__main__":
    main()
