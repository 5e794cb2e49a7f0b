"""Distributions of flow sizes: data files with their source, sampled by their inverse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Self

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from testbed.base.arrays import Floats
from testbed.base.inputs import Input, digest
from testbed.base.problems import first_problem
from testbed.errors import BadInput, nearest
from testbed.experiment.lines import first
from testbed.experiment.traffic import cdf_text
from testbed.units import Size, show_size

SHIPPED = Path(__file__).parent / "sizes"


class _File(BaseModel):
    """What a data file says."""

    model_config = ConfigDict(extra="forbid")

    source: str
    unit: Annotated[Size, Field(gt=0)] = 1.0
    mean: Size | None = None  # as published; the tests compare
    points: Annotated[list[tuple[float, float]], Field(min_length=1)]

    @model_validator(mode="after")
    def _a_distribution(self) -> Self:
        sizes, shares = zip(*self.points, strict=True)
        if any(b < a for column in (sizes, shares) for a, b in pairwise(column)):
            raise ValueError("sizes and shares of 'points' must not fall from one point to the next")
        if min(sizes) < 0 or shares[0] < 0 or shares[-1] != 1:
            raise ValueError("sizes of 'points' must not be negative, and the shares must end with 1")
        if (0.0, 1.0) in self.points:
            raise ValueError("by its 'points' no flow is larger than 0")
        return self


@dataclass(frozen=True)
class Distribution:
    """Points of a cumulative distribution, straight lines between them; what is below the first has its size."""

    source: str
    size: Floats  # bytes, shape (k,)
    share: Floats  # of the flows that are not larger; ends with 1
    read: Input  # where it stands

    def sizes(self, uniform: Floats) -> Floats:
        """Whole bytes, at least one, for numbers from 0 to 1: the inverse of the distribution."""
        return np.maximum(np.ceil(np.interp(uniform, self.share, self.size)), 1.0)

    @property
    def mean(self) -> float:
        """Bytes."""
        middles = (self.size[1:] + self.size[:-1]) / 2
        return float(self.size[0] * self.share[0] + (middles * np.diff(self.share)).sum())

    def up_to(self, largest: float) -> Distribution:
        """The same, with every size above ``largest`` bytes cut to it."""
        if largest >= self.size[-1]:
            return self
        below = self.size < largest
        at = float(np.interp(largest, self.size, self.share))
        size = np.concatenate((self.size[below], [largest, largest]))
        return replace(self, size=size, share=np.concatenate((self.share[below], [at, 1.0])))


def shipped() -> list[str]:
    """Names of the shipped distributions."""
    return sorted(file.stem for file in SHIPPED.glob("*.yaml"))


@lru_cache
def load(name: str, unit: float | None = None) -> Distribution:
    """A shipped distribution, or one from a file (anything with a slash or a suffix): YAML, or text, whose sizes may
    have another unit. Raises BadInput.
    """
    file = Path(name).expanduser() if "/" in name or Path(name).suffix else SHIPPED / f"{name}.yaml"
    if file.parent == SHIPPED and file.stem not in shipped():
        raise BadInput(
            f"no size distribution is named '{name}'; {nearest(name, shipped())}, or give a path: ./{name}.yaml"
        )
    text = _text(file, unit)
    if text is not None:
        return text
    if unit is not None:
        raise BadInput(f"'{name}' is YAML, which says its unit itself: leave traffic.unit out")
    try:
        content = file.read_bytes()
        said = _File.model_validate(yaml.safe_load(content.decode()))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"cannot read '{name}': {error.strerror if isinstance(error, OSError) else 'not UTF-8'}"
        ) from None
    except yaml.YAMLError as error:
        raise BadInput(f"'{name}' is not valid YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise BadInput(f"'{name}' is nested too deeply; expected {EXPECTED}") from None
    except ValidationError as error:
        raise BadInput(f"'{name}': {first_problem(error)}; expected {EXPECTED}") from None
    sizes, shares = np.array(said.points, float).T
    read = Input(key="sizes", file=file, sha256=digest(content))
    return Distribution(said.source, sizes * said.unit, shares, read)


def _text(file: Path, unit: float | None) -> Distribution | None:
    """None for a file that is not text of this kind, or cannot be read."""
    try:
        if not cdf_text.is_one(first(file)):
            return None
        points, usual = cdf_text.read(file)
    except OSError:
        return None
    except ValueError as error:
        raise BadInput(str(error)) from None
    each = usual if unit is None else unit
    form = f"sizes as text: {len(points)} points, in units of {show_size(each)}"
    sizes, shares = np.array(points, float).T
    return Distribution(str(file), sizes * each, shares, Input.of("sizes", file, form))


EXPECTED = "source: text, unit: 1 B, points: [[size, share of the flows that are not larger], ...]"
