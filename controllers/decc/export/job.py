"""``testbed export decc``: the controller and one form of its policy, as C."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

from pydantic import Field

from testbed.errors import BadInput, nearest
from testbed.sdk.jobs import Job, JobConfig, JobContext, Result

from ..boosted import Decc
from ..controller import DeccForm
from ..network import Network
from ..neural import DeccNn, DeccQuantised
from ..tree import Trees
from . import c, check

TARGETS = {"c": "portable C99 with doubles"}
FORMS: dict[str, tuple[type[DeccForm], type[Trees | Network]]] = {
    "trees": (Decc, Trees), "quantised": (DeccQuantised, Network), "network": (DeccNn, Network),
}  # fmt: skip


class ExportConfig(JobConfig):
    """What is exported, and to what."""

    to: str = Field(default="c", description=f"Form of the export: {', '.join(TARGETS)}.")
    form: Literal["trees", "quantised", "network"] = Field(default="trees", description="Of the policy.")
    policy: str = Field(default="", description="File with another policy of this form; by default the shipped one.")


def export(config: ExportConfig, context: JobContext) -> Result:
    """Write the files. Raises BadInput for an unknown target or an unusable policy."""
    if config.to not in TARGETS:
        raise BadInput(f"decc cannot be exported to '{config.to}'; {nearest(config.to, list(TARGETS))}")
    form, kind = FORMS[config.form]
    file = Path(config.policy).expanduser() if config.policy else form.shipped
    files = c.exported(kind.load(file))
    for name, text in files.items():
        (context.out / name).write_text(text, encoding="utf-8")
    wrong, checked, decisions = "", "not checked: there is no C compiler on this machine", 0
    if shutil.which("clang") or shutil.which("gcc"):
        bad, decisions = check.wrong(context.out, form, str(file))
        wrong = f"{bad} rates or windows are not the controller's" if bad else ""
        checked = f"checked: compiled, and {decisions:,} decisions equal to the controller's"
    lines = [f"{config.form} as {TARGETS[config.to]}: {', '.join(files)}", checked]
    data = {"to": config.to, "form": config.form, "files": list(files), "checked": checked, "decisions": decisions}
    return Result(lines, data, wrong)


EXPORT = Job("The controller as portable C.", ExportConfig, export)
