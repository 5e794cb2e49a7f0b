"""What an edit of a run that goes on comes to: settings that change (`testbed.experiment.edits` reads them)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from testbed.plugin import PluginConfig


@dataclass(frozen=True)
class Threshold:
    """Of RED."""

    name: str
    rows: tuple[int, ...]  # in `Layout.queue_names`
    value: float


@dataclass(frozen=True)
class Weight:
    """Of a queue, at all ports."""

    queue: int
    value: int


@dataclass(frozen=True)
class Alpha:
    """Of a queue, or a priority group, in the memory of its switch."""

    of_group: bool
    number: int
    ports: tuple[int, ...]  # in `Shape.ports`
    value: float


@dataclass(frozen=True)
class OfLink:
    """Its loss, rate or delay; a loss is of what either end sends."""

    link: str
    setting: Literal["loss", "rate", "delay"]
    value: float


@dataclass(frozen=True)
class Option:
    """Of a controller."""

    decider: int  # in `Resolved.deciders`
    config: PluginConfig  # with it


Change = Threshold | Weight | Alpha | OfLink | Option
