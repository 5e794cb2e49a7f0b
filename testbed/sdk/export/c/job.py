"""``testbed export NAME --to c``: any compiled controller, installed or a file of the user's own."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

from testbed.base.compiler import EXACT, USUAL, compile_to
from testbed.compiled.c_library import FOLDER, HEADER
from testbed.errors import TestbedError
from testbed.plugin import PluginConfig
from testbed.registry import Plugin
from testbed.sdk.conformance import c_code
from testbed.sdk.export.c.compare import COUNT, brought, compared, exported
from testbed.sdk.export.c.functions import snake
from testbed.sdk.export.job import C, from_python
from testbed.sdk.export.stack import stack_use
from testbed.sdk.jobs import Job, JobContext, JobProgress, Result

STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", EXACT, f"-I{FOLDER}", "-c")
README = Path(__file__).with_name("README.md.txt")


def of(name: str) -> Plugin:
    """The job for a controller; its options and presets are the controller's. Raises BadInput."""
    plugin = from_python(name, C)
    form: Any = plugin.form

    def run(config: PluginConfig, context: JobContext) -> Result:
        return export(plugin, config, context)

    job = Job(f"{plugin.name} as C99 with doubles, against testbed_cc.h.", form.Config, run, form.presets)
    return Plugin("export", plugin.name, job, plugin.origin, plugin.file)


def export(plugin: Plugin, config: PluginConfig, context: JobContext) -> Result:
    """Write the files, after they were checked. Raises CannotExport, and TestbedError if there is no compiler."""
    context.report(JobProgress(0, 4, "writing C"))
    made, name = exported(plugin, config), f"{snake(plugin.name)}.c"
    (context.out / name).write_text(made.text, encoding="utf-8")
    shutil.copy(HEADER, context.out)
    context.report(JobProgress(1, 4, "compiling strictly"))
    compilers = [one for one in USUAL[:2] if shutil.which(one)]
    problems = [f"{one}: {said}" for one in compilers if (said := _strict(context.out / name, one))]
    context.report(JobProgress(2, 4, f"comparing {COUNT:,} decisions"))
    found = compared(made, plugin, config)
    if found.different:
        problems.append(f"{found.different:,} of {COUNT:,} decisions differ, the first in {found.first}")
    context.report(JobProgress(3, 4, "with the sanitizers"))
    flows = brought(made)
    assert flows.native
    native = replace(flows.native, file=context.out / name)
    fine, said = c_code.sanitized(native, flows.config)
    if fine is False:
        problems.append(said)
    harmless, fuzzed = c_code.fuzzed(native, flows.config)
    if harmless is False:
        problems.append(fuzzed)
    raised = f"; {found.raised:,} in which Python raises an exception are not compared" if found.raised else ""
    state = flows.records.dtype.itemsize
    checks = {
        "compiled": f"by {' and '.join(compilers)}, -Wall -Wextra -Wconversion -Werror",
        "compared": f"{COUNT:,} made-up events, extremes among them: decisions equal to the bit{raised}",
        "sanitizers": said,
        "extremes": fuzzed,
        "state": f"{state} bytes per flow, path included",
        "stack": f"{stack_use([context.out / name], STRICT)}, without libm's",
    }
    text = Template(README.read_text(encoding="utf-8"))
    rows = "\n".join(f"| {key} | {value} |" for key, value in checks.items())
    (context.out / "README.md").write_text(text.substitute(name=plugin.name, file=name, rows=rows), encoding="utf-8")
    lines = [
        f"{plugin.name} as C99: {name}, testbed_cc.h, README.md",
        *(f"{key}: {value}" for key, value in checks.items()),
    ]
    data = {"to": C, "controller": plugin.name, "files": [name, "testbed_cc.h", "README.md"], **checks}
    return Result(lines, data, "; ".join(problems))


def _strict(file: Path, compiler: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            compile_to(Path(folder) / "one.o", (file,), STRICT, [compiler])
        except TestbedError as error:
            return str(error)
    return ""
