"""`testbed decode`."""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from testbed.cli.shared import Format, Formatted, choice
from testbed.errors import TestbedError


class Kind(StrEnum):
    """Packets that can be asked for."""

    data = "data"
    ack = "ack"
    cnp = "cnp"
    src = "src"
    credit = "credit"


def _print_dissector(asked: bool) -> None:
    if not asked:
        return
    print((resources.files("testbed.capture") / "testbed.lua").read_text(), end="")
    raise typer.Exit


def decode(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A capture: pcapng or pcap.")],
    only: Annotated[Kind | None, choice(Kind, "Only these packets.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="NUMBER", help="Stop after this many packets.")] = None,
    format: Formatted = Format.text,
    lua: Annotated[  # noqa: ARG001 - its callback prints
        bool,
        typer.Option(
            "--lua", callback=_print_dissector, is_eager=True, help="Print the dissector for Wireshark and tshark."
        ),
    ] = False,
) -> None:
    """Print the packets of a capture: RoCEv2 with its INT, one line or one JSON object each.

        testbed decode results/incast-64-dcqcn-20261128-071200/port-s1-eth65.pcapng --only cnp

    A truncated capture is printed as far as it goes (exit code 1). Wireshark and tshark: docs/howto/captures.md.
    """
    from testbed.capture import decode as decoding
    from testbed.capture.reader import Reader

    reader = Reader(file)
    try:
        for packet in islice(decoding.packets(reader, only or ""), limit):
            print(json.dumps(packet) if format is Format.json else decoding.line(packet, reader.digits))
        sys.stdout.flush()
    except BrokenPipeError:  # 'testbed decode ... | head' has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # the reader's own are TestbedErrors
        raise TestbedError(f"the output cannot be written: {error.strerror}") from None
    except TestbedError:
        sys.stdout.flush()  # what was good comes before the message
        raise
    if reader.dropped:
        print(f"the capture misses {reader.dropped} packets", file=sys.stderr)
