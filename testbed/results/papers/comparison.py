"""One published comparison, as a file: what the paper printed, and how each of its cells is measured here.

The numbers are data, with their source: ``testbed/results/papers/*.yaml``. A user's own file has the same form:
``testbed reproduce ./mine.yaml``. Nothing here knows a controller; the files name them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, ValidationInfo, model_validator

from testbed.errors import BadInput, nearest
from testbed.experiment.block import Count, Part, refuse
from testbed.experiment.document import Document
from testbed.experiment.messages import explain
from testbed.registry import absolute
from testbed.results.summary import FIGURES

PACKAGE = "testbed.results.papers"

Settings = dict[str, Any]  # key of the experiment file to its value, as for --set
Printed = list[float | None] | str | None  # one number per printed metric, a word of `Comparison.words`, or nothing


def _beside_the_file(named: str, info: ValidationInfo) -> str:
    """A path is relative to the file that gives it, wherever the command is called."""
    experiment = named.endswith((".yaml", ".yml")) and "/" not in named
    return absolute(f"./{named}" if experiment else named, (info.context or {}).get("folder", Path()))


Named = Annotated[str, AfterValidator(_beside_the_file)]  # something installed, or a path


class Source(Part):
    """Where the numbers were printed."""

    paper: str = Field(description="Authors, title, venue.")
    where: str = Field(description="Table, figure or section.")
    setup: str = Field(description="What the paper says of its setup, and what it does not say.")


class Equal(Part):
    """When two figures count as equal."""

    within: Annotated[float, Field(gt=0)]
    of: Literal["points", "percent"] = Field(description="Of the printed unit, or of the printed number.")
    rule: str = Field(description="Whose rule it is, in words.")


class Metric(Part):
    """One figure of the table, and which figure of our summary it is."""

    label: str
    unit: str = ""
    field: str = Field(description="Field of summary.json.")
    per: str = Field(default="", description="Field that it is divided by.")
    scale: float = Field(default=1.0, description="From our SI value to the printed unit.")
    better: Literal["higher", "lower"]
    digits: Annotated[int, Field(ge=0, le=6)] = 1
    relative_to: str = Field(
        default="", description="Row that this one is compared with: 100 * (that row's / this row's - 1), in %."
    )
    printed: bool = Field(default=True, description="Whether the paper has a number for it; else ours stands alone.")
    meaning: str = Field(default="", description="Where the paper's definition and ours need a word.")
    equal: Equal | None = Field(default=None, description="A rule of its own; else that of the comparison.")

    @property
    def heading(self) -> str:
        """``QL, us``."""
        return f"{self.label}, {self.unit}" if self.unit else self.label

    @model_validator(mode="after")
    def _fields_exist(self) -> Self:
        for key, name in (("field", self.field), ("per", self.per)):
            if name and name not in FIGURES:
                refuse(key, f"no such figure; {nearest(name, list(FIGURES))}")
        return self


class Column(Part):
    """One scenario of the table; its cells are runs of one experiment, or it sums up other columns."""

    label: str
    experiment: Named = Field(default="", description="Name or path of it; none: printed only, not run here.")
    settings: Settings = Field(default={}, description="Keys of the experiment file for this column.")
    best_of: list[str] = Field(default=[], description="For 'up to': the best value over these columns.")
    note: str = ""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.experiment and self.best_of:
            refuse("best_of", "a column has an experiment or sums up others, not both")
        return self


class How(Part):
    """What stands in our rack for a row of the paper."""

    controller: Named
    tuner: Named = "static"
    settings: Settings = Field(default={}, description="Presets, options: controller.window, tuner.preset, ...")
    why: str = Field(default="", description="Why this and not another variant.")


class Row(Part):
    """One contender, its printed cells, and how it is run here."""

    printed: dict[str, Printed] = Field(default={}, description="Column to its numbers; none were printed: leave out.")
    here: How | None = Field(default=None, description="None: there is no such plugin, the row stays empty.")


class Judged(Part):
    """The table that is derived from ours: does the order of the contenders agree, are they close?"""

    order: str = Field(description="Metric by which contenders are ordered.")
    within: Annotated[float, Field(gt=0)] = Field(description="Points that `close` may differ by.")
    close: str = Field(description="Metric that is to be close.")
    rows: list[str]


class Quick(Part):
    """What `--quick` keeps."""

    columns: list[str]
    repeats: Count = 1
    settings: Settings = Field(default={})


class Comparison(Part):
    """A published comparison."""

    name: str = ""
    title: str
    source: Source
    equal: Equal
    words: dict[str, str] = Field(
        default={}, description="What the paper prints in place of a number, and its meaning."
    )
    metrics: dict[str, Metric] = Field(min_length=1)
    columns: dict[str, Column] = Field(min_length=1)
    rows: dict[str, Row] = Field(min_length=1)
    judged: Judged | None = None
    settings: Settings = Field(default={}, description="Keys of the experiment file for every cell.")
    repeats: Count = Field(default=3, description="Runs of every cell, each with the next seed.")
    seed: Annotated[int, Field(ge=0)] = 1
    quick: Quick
    notes: list[str] = Field(default=[], description="How our runs differ from the paper's.")

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        for name, row in self.rows.items():
            for column, printed in row.printed.items():
                self._known(f"rows.{name}.printed", column, self.columns)
                self._fits(f"rows.{name}.printed.{column}", printed)
        for name, metric in self.metrics.items():
            if metric.relative_to:
                self._known(f"metrics.{name}.relative_to", metric.relative_to, self.rows)
        for name, about in self.columns.items():
            for other in about.best_of:
                self._known(f"columns.{name}.best_of", other, self.columns)
                if self.columns[other].best_of:
                    refuse(f"columns.{name}.best_of", f"'{other}' sums up others itself; name those")
        for kept in self.quick.columns:
            self._known("quick.columns", kept, self.columns)
        if self.judged is not None:
            for key in ("order", "close"):
                self._known(f"judged.{key}", getattr(self.judged, key), self.metrics)
            for contender in self.judged.rows:
                self._known("judged.rows", contender, self.rows)
        return self

    def _fits(self, key: str, printed: Printed) -> None:
        if isinstance(printed, str):
            self._known(key, printed, self.words)
        elif printed is not None and len(printed) != len(self.printed_metrics):
            metrics = ", ".join(self.printed_metrics)
            refuse(key, f"expected {len(self.printed_metrics)} numbers ({metrics}), got {len(printed)}")

    @staticmethod
    def _known(key: str, name: str, allowed: Mapping[str, object]) -> None:
        if name not in allowed:
            refuse(key, f"'{name}' is not there; {nearest(name, list(allowed))}")

    @property
    def printed_metrics(self) -> list[str]:
        """The metrics that a list of printed numbers is of, in this order."""
        return [name for name, metric in self.metrics.items() if metric.printed]

    def printed(self, row: str, column: str, metric: str) -> float | str | None:
        """What the paper has of one row in one column: a number, a word of `words`, or None."""
        cell = self.rows[row].printed.get(column)
        if cell is None or isinstance(cell, str):
            return cell
        return cell[self.printed_metrics.index(metric)] if self.metrics[metric].printed else None


def names() -> list[str]:
    """The comparisons that are shipped."""
    return sorted(Path(name).stem for name in _shipped())


def load(path_or_name: str) -> Comparison:
    """By name, or from a file (``.yaml``, or anything with a slash). Raises BadInput."""
    if "/" in path_or_name or path_or_name.endswith((".yaml", ".yml")):
        return _read(Path(path_or_name).expanduser(), path_or_name)
    if path_or_name not in names():
        raise BadInput(f"no comparison is named '{path_or_name}'; {nearest(path_or_name, names())}")
    with as_file(files(PACKAGE).joinpath(f"{path_or_name}.yaml")) as file:
        return _read(file, file.name)


def _shipped() -> Iterator[str]:
    return (file.name for file in files(PACKAGE).iterdir() if file.name.endswith(".yaml"))


def _read(file: Path, name: str) -> Comparison:
    document = Document.read(file, name, "a comparison: 'key: value' lines, such as 'rows:'")
    document.data.setdefault("name", file.stem)
    try:
        return Comparison.model_validate(document.data, context={"folder": file.parent})
    except ValidationError as error:
        raise BadInput(explain(error, document)) from None
