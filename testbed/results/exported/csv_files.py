"""Every table of a run as CSV."""

from __future__ import annotations

from pathlib import Path

from testbed.errors import BadInput
from testbed.results import folder


def csv_files(run: Path, out: Path) -> list[Path]:
    """A file per table in a new folder ``out``; the columns are those of docs/reference/results.md. Raises BadInput."""
    from pyarrow import csv

    tables = sorted(run.glob("*.parquet"))
    if not tables:
        raise BadInput(f"{run} has no tables; expected a results folder")
    if out.exists():
        raise BadInput(f"--out {out}: is there already; expected a new folder")
    folder.make_folder(out)
    made = []
    for table in tables:
        file = out / f"{table.stem}.csv"
        csv.write_csv(folder.read_table(table), file)
        made.append(file)
    return made
