"""`testbed agent`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer


def agent(
    identify: Annotated[
        bool, typer.Option("--identify", help="Print version and digest as JSON, and do nothing.")
    ] = False,
    check: Annotated[str, typer.Option(metavar="INTERFACE", help="Say whether a run may use it.")] = "",
) -> None:
    """Serve a run on this host, as `testbed run --inventory` asks for on stdin (needs root).

        sudo testbed agent --check eth2

    It uses one real interface, and leaves that as it was. Exit code 2: the interface does not fit; 1: the run did not
    end as its operator asked.
    """
    if identify:
        from testbed.cli.shared import print_json
        from testbed.engines.lab.protocol.code_digest import identity

        print_json(identity())
    elif check:
        from testbed.engines.lab.host.interface import Interface

        interface = Interface(check)
        interface.inspect(frame=0, rate=0.0)
        interface.reserve()
        print(f"{check}: fits")
    else:
        from testbed.engines.lab.host.service import serve

        channel = os.dup(1)
        os.dup2(2, 1)  # stdout is the control channel: what a plugin prints goes to stderr
        sys.stdout = sys.stderr
        raise typer.Exit(serve(0, channel))
