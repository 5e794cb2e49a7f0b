"""The `apps:` block of an experiment file: commands that run inside hosts of the rack while it runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from testbed.experiment.block import Count, HostName, Moment, Part, refuse
from testbed.units import show_time

OWN_NAMES = "TESTBED_"  # of the environment variables that every app has


def _name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", value):
        raise ValueError(f"'{value}' is not a name; expected up to 40 letters, digits and _ . -, for example 'client'")
    return value


def _pattern(value: str) -> str:
    try:
        groups = re.compile(value, re.MULTILINE).groups
    except re.error as error:
        raise ValueError(f"'{value}' is not a regular expression: {error}") from None
    if groups != 1:
        raise ValueError(f"'{value}' must have one group, around the number; it has {groups}")
    return value


Name = Annotated[str, AfterValidator(_name)]


class Ready(Part):
    """When it is ready, by one of two; only then does the run begin, and do later apps start."""

    port: Annotated[int, Field(strict=True, ge=1, le=65535)] | None = Field(
        default=None, description="It listens at this TCP port."
    )
    prints: str | None = Field(default=None, description="It has printed this text.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.port is None) == (not self.prints):
            refuse("port", "give either port or prints")
        return self


class AppFigure(Part):
    """Other numbers that it prints; of several the last one is meant."""

    name: Name = Field(description="Its name in the results.")
    pattern: Annotated[str, AfterValidator(_pattern)] = Field(
        description="Regular expression with one group, around the number: `Requests/sec: +([0-9.]+)`."
    )
    kind: Literal["count", "rate", "time"] = Field(
        default="count", description="A `rate` is multiplied by the dilation, a `time` divided by it."
    )
    unit: str = Field(default="", description="Shown behind it: `1/s`.")


class App(Part):
    """Commands that run inside hosts, in wall time, with the kernel or live engine.

    It finds hosts by name (h1), and in its environment TESTBED_SECONDS (wall seconds from start to stop), TESTBED_HOST,
    TESTBED_NUMBER (0 at its first host), TESTBED_DILATION and TESTBED_PYTHON. If it fails, the run ends.
    """

    name: Name = Field(description="Its name in the results; with several hosts each adds its own: tcp-h2.")
    hosts: Annotated[list[HostName], Field(min_length=1)] = Field(description="Where it runs, once each.")
    run: Annotated[str, Field(min_length=1)] = Field(
        description="What `/bin/sh -e` runs, as root: the first command that fails ends it."
    )
    start: Moment = Field(default=0.0, description="When it starts; with `ready` before the run begins.")
    stop: Moment | None = Field(
        default=None, description="When it is asked to end (SIGTERM, to all its processes); by default with the run."
    )
    ready: Ready | None = None
    patience: Count = Field(default=30, description="Wall seconds that it may take until it is ready.")
    exit: Annotated[int, Field(strict=True, ge=0, le=255)] | None = Field(
        default=None,
        description="Exit code with which it must end by itself. By default it may go on until it is stopped, or end "
        "with 0.",
    )
    environment: dict[str, str] = Field(default={}, description="More variables of its environment.")
    folder: str = Field(
        default="", description="Working folder, relative to this file; by default an empty one, of its own."
    )
    reads: Literal["iperf3", "perftest"] | None = Field(
        default=None,
        description="What it prints becomes figures: `iperf3` is the JSON of `iperf3 -J`, `perftest` the tables of "
        "ib_write_bw and the like.",
    )
    figures: list[AppFigure] = Field(default=[])

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.ready and self.start:
            refuse("start", "with ready it starts before the run begins; leave it out")
        if self.stop is not None and self.stop <= self.start:
            refuse("stop", f"must be after start ({show_time(self.start)})")
        for host in self.hosts:
            if self.hosts.count(host) > 1:
                refuse("hosts", f"names {host} twice")
        for name in self.environment:
            if not name or "=" in name or name.startswith(OWN_NAMES):
                refuse("environment", f"'{name}' cannot be set: names have no '=' and do not begin with {OWN_NAMES}")
        return self


@dataclass(frozen=True)
class Instance:
    """An app at one of its hosts."""

    name: str
    host: str
    number: int  # of the host within the app's
    app: App


def instances(apps: Sequence[App]) -> list[Instance]:
    """All of them, in order."""
    return [
        Instance(app.name if len(app.hosts) == 1 else f"{app.name}-{host}", host, number, app)
        for app in apps
        for number, host in enumerate(app.hosts)
    ]


def hosts_needed(apps: Sequence[App]) -> int:
    """Up to the highest number."""
    return max((int(host[1:]) for app in apps for host in app.hosts), default=0)


def check(apps: Sequence[App], hosts: int, end: float) -> None:
    """Raises if names are not unique, a host is not there, or an app would never start."""
    taken: dict[str, int] = {}
    places = [place for place, app in enumerate(apps) for _ in app.hosts]
    for place, one in zip(places, instances(apps), strict=True):
        if one.name in taken:
            refuse(f"apps.{place}.name", f"'{one.name}' is the name of app {taken[one.name]} already; give it another")
        taken[one.name] = place
        if int(one.host[1:]) > hosts:
            refuse(f"apps.{place}.hosts", f"there is no {one.host}; the rack has {hosts} hosts")
        if one.app.start >= end:
            refuse(f"apps.{place}.start", f"would start only after time.duration ({show_time(end)})")


def with_apps_alone(data: Mapping[str, object]) -> dict[str, object]:
    """Where there are apps, nobody needs other traffic, nor a controller of it."""
    if not data.get("apps") or "traffic" in data:
        return dict(data)
    return {**data, "traffic": {"pattern": "none"}, "controller": data.get("controller", "fixed")}
