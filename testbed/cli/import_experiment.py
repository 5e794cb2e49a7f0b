"""`testbed import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testbed.errors import BadInput


def import_experiment(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of other tools.")],
    out: Annotated[Path, typer.Option(metavar="FILE.yaml", help="The experiment file to write.")],
    controller: Annotated[str, typer.Option(metavar="NAME|PATH", help="Instead of the one that the files name.")] = "",
) -> None:
    """Write files of other tools as an experiment, with comments on what is taken and left out.

        testbed import fat-tree.topo cm.tm --out fat-tree.yaml

    docs/howto/files.md has the formats.
    """
    from testbed.base.atomic import atomic_write
    from testbed.experiment.imported.files import drafted
    from testbed.experiment.load import load, resolve
    from testbed.experiment.offered import Offered

    if out.suffix not in {".yaml", ".yml"}:
        raise BadInput(f"--out {out}: expected a file that ends with .yaml")
    if out.exists():
        raise BadInput(f"--out {out}: is there already; expected a new file")
    if not out.absolute().parent.is_dir():
        raise BadInput(f"--out {out}: there is no folder {out.absolute().parent}")
    draft = drafted(files, out, controller)
    atomic_write(out, draft.text().encode())
    try:
        experiment = resolve(load(str(out.absolute()))).experiment
    except BadInput as error:
        raise BadInput(f"{out} is written, but does not run yet: {error}") from None
    print(f"{out}: {experiment.hosts:,} hosts, {Offered.of(experiment)}")
    if draft.left_out:
        print(f"{len(draft.left_out)} settings are left out; its last lines name them")
