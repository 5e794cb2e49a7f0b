"""`testbed monitor`: runs watched with Prometheus and Grafana."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from testbed.cli.help import Command, Group

monitor = typer.Typer(cls=Group, help="Watch runs with Prometheus and Grafana.", no_args_is_help=True)


@monitor.command(cls=Command)
def up(
    dir: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="For data and logs; by default ~/.local/state/testbed/monitor."),
    ] = None,
    prometheus_port: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, max=65535, help="Where Prometheus listens.")
    ] = 9090,
    grafana_port: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, max=65535, help="Where Grafana listens.")
    ] = 3000,
    target: Annotated[
        list[str] | None, typer.Option(metavar="HOST:PORT", help="Scrape this, too; may be repeated.")
    ] = None,
) -> None:
    """Start Prometheus and Grafana with testbed's dashboards, on loopback, until Ctrl-C.

        testbed monitor up

    Installed programs come first, then Docker (docs/howto/monitoring.md).
    """
    from testbed.live.monitor import up as monitor_up
    from testbed.live.monitor.configuration import default_targets
    from testbed.live.monitor.services import Ports

    targets = [*default_targets(), *(monitor_up.target(one) for one in target or [])]
    monitor_up.up(dir or _state_folder(), Ports(prometheus_port, grafana_port), list(dict.fromkeys(targets)))


def _state_folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return base / "testbed" / "monitor"
