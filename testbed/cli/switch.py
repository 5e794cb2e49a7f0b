"""`testbed switch`: interfaces of this box as switch ports, and their ECN thresholds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testbed.cli.help import Command, Group
from testbed.cli.shared import Format, Formatted, print_json
from testbed.errors import BadInput, TestbedError

if TYPE_CHECKING:
    from testbed.engines.lab.switch.pinned import PinnedSwitch

switch = typer.Typer(
    cls=Group, help="This Linux box as a switch: ports with the rack's queue and ECN.", no_args_is_help=True
)
Ports = Annotated[list[str] | None, typer.Argument(metavar="[PORT]...", help="Interfaces; all ports if none is named.")]
HEADS = ("port", "rate", "buffer", "Kmin", "Kmax", "Pmax", "queue", "packets", "marked", "dropped")


@switch.command(cls=Command)
def attach(
    ports: Annotated[list[str], typer.Argument(metavar="PORT...", help="Interfaces that become ports.")],
    rate: Annotated[str, typer.Option(metavar="RATE", help="Rate at which a port sends, for example '1 Gbit/s'.")],
    buffer: Annotated[str, typer.Option(metavar="SIZE", help="What may wait at a port.")] = "5 MB",
    format: Formatted = Format.text,
) -> None:
    """Make interfaces switch ports (shaper, queue with RED, INT, counters), which mark nothing yet.

    sudo testbed switch attach swp1 swp2 --rate "1 Gbit/s"
    """
    from testbed.engines.lab.switch import attach as doing
    from testbed.engines.lab.switch import pins

    bits, size = _quantity("rate", rate), _quantity("buffer", buffer)
    _need_root()
    with pins.exclusive():
        _show(doing.attach(ports, bits or 0.0, size or 0.0), format)


@switch.command(cls=Command)
def show(format: Formatted = Format.text) -> None:
    """Print ports, active thresholds, and counters.

    sudo testbed switch show
    """
    from testbed.engines.lab.switch.pinned import PinnedSwitch

    _need_root()
    _show(PinnedSwitch(), format)


@switch.command("set", cls=Command)
def set_(
    ports: Ports = None,
    kmin: Annotated[
        str, typer.Option(metavar="SIZE", help="No packet is marked up to this queue, for example '100 kB'.")
    ] = "",
    kmax: Annotated[str, typer.Option(metavar="SIZE", help="Every packet is marked above this queue.")] = "",
    pmax: Annotated[
        str, typer.Option(metavar="SHARE", help="Share of the packets that are marked at Kmax, for example '20 %'.")
    ] = "",
    format: Formatted = Format.text,
) -> None:
    """Set ECN thresholds, at once for every port; what is not given stays.

    sudo testbed switch set swp1 --kmin "100 kB" --kmax "400 kB" --pmax "20 %"
    """
    from testbed.engines.lab.switch import pins
    from testbed.engines.lab.switch.pinned import PinnedSwitch

    given = [_quantity(name, text) for name, text in (("kmin", kmin), ("kmax", kmax), ("pmax", pmax))]
    if given == [None, None, None]:
        raise BadInput("nothing to set; give --kmin, --kmax or --pmax")
    _need_root()
    with pins.exclusive():
        found = PinnedSwitch()
        found.change(ports or [], *given)
        _show(found, format)


@switch.command(cls=Command)
def detach(ports: Ports = None, format: Formatted = Format.text) -> None:
    """Take program and shaper from these ports, or from all.

    sudo testbed switch detach
    """
    from testbed.engines.lab.switch import attach as doing
    from testbed.engines.lab.switch import pins
    from testbed.engines.lab.switch.pinned import PinnedSwitch

    _need_root()
    with pins.exclusive():
        left = doing.detach(ports or [])
        if left:
            _show(PinnedSwitch(), format)
        elif format is Format.json:
            print_json({"ports": []})


def _quantity(name: str, text: str) -> float | None:
    from testbed.units import RATE_UNITS, RATIO_UNITS, SIZE_UNITS, parse

    units, kind = {"rate": (RATE_UNITS, "a rate"), "pmax": (RATIO_UNITS, "a ratio")}.get(name, (SIZE_UNITS, "a size"))
    if not text:
        return None
    try:
        return parse(text, units, kind)
    except ValueError as error:
        raise BadInput(f"--{name}: {error}") from None


def _need_root() -> None:
    if os.geteuid() != 0:
        raise TestbedError("a switch needs root; run it with sudo: sudo testbed switch ...")


def _show(found: PinnedSwitch, format: Format) -> None:
    ports = found.as_dicts()
    if format is Format.json:
        print_json({"ports": ports})
        return
    rows = [HEADS, *(_row(port) for port in ports)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _row(port: dict[str, Any]) -> tuple[str, ...]:
    from testbed.units import show_rate, show_size

    sizes = [show_size(port[name]) for name in ("buffer", "kmin", "kmax")]
    counts = [str(port[name]) for name in ("tx_packets", "marked_packets", "dropped_packets")]
    return (
        port["name"],
        show_rate(port["rate"]),
        *sizes,
        f"{100 * port['pmax']:g} %",
        show_size(port["queue"]),
        *counts,
    )
