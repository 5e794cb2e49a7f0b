"""`testbed watch`: a run in this terminal, while it goes on or after it."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from testbed.cli.shared import Format, Formatted
from testbed.errors import BadInput, TestbedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from testbed.live.page.events import Event
    from testbed.live.terminal import View

HOST, PORT = "127.0.0.1", 9464
LINE_EVERY = 1.0  # s of wall time between plain lines
LEFT = 130  # exit code of who leaves by Ctrl-C, as shells have it
EXIT_CODES = {"clean": 0, "degraded": 3}

RunArgument = Annotated[str, typer.Argument(metavar="[RUN]", help="HOST:PORT or port of a run, or a results folder.")]


def watch(run: RunArgument = f"{HOST}:{PORT}", format: Formatted = Format.text) -> None:
    """Follow a run that goes on, or show one that has ended, in this terminal.

        testbed watch
        testbed watch results/incast-64-dcqcn-20261128-071200

    Without a terminal it prints a line per second; as JSON an event per line, from the beginning. The exit code is the
    run's; 2 if none answers, and 130 after Ctrl-C, which does not end it.
    """
    if Path(run).is_dir() or run.endswith("/"):
        _show_folder(Path(run), format)
    host, port = _address(run)
    from testbed.live.page.events import listen

    try:
        end = _follow(listen(host, port), format)
    except KeyboardInterrupt:
        raise typer.Exit(LEFT) from None
    if end["verdict"] not in EXIT_CODES:
        raise TestbedError(f"the run failed: {'; '.join(end['reasons'])}")
    raise typer.Exit(EXIT_CODES[end["verdict"]])


def _address(run: str) -> tuple[str, int]:
    if run.isdecimal():
        run = f"{HOST}:{run}"
    found = re.fullmatch(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9._-]+)):(?P<port>\d{1,5})", run)
    if not found or not 0 < int(found["port"]) < 1 << 16:
        raise BadInput(f"'{run}' is neither HOST:PORT or a port, such as {HOST}:{PORT}, nor an existing results folder")
    return found["six"] or found["host"], int(found["port"])


def _show_folder(path: Path, format: Format) -> None:
    from rich.console import Console

    from testbed.results import folder
    from testbed.results.report import table

    summary = folder.load(path).summary
    if format is Format.json:
        print(summary.to_json())
    else:
        Console().print(table.render(summary))
    raise typer.Exit(int(summary.verdict.exit_code))


def _follow(events: Iterator[Event], format: Format) -> dict[str, Any]:
    """Show the events until the end, and return that."""
    from rich.console import Console

    from testbed.live.terminal import View, final

    if format is Format.json:
        return _print_json(events)
    view, console = View(), Console()
    try:
        end = _draw(events, view, console) if console.is_terminal else _print_lines(events, view)
        console.print(final(view.scene, end))
        if end["folder"]:
            console.print(f"results: {end['folder']}", highlight=False, markup=False, soft_wrap=True)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise TestbedError(f"the run is of another version of testbed: {error!r} is not what is expected") from None
    return end


def _print_json(events: Iterator[Event]) -> dict[str, Any]:
    import json

    end: dict[str, Any] = {}
    for name, data in events:
        print(json.dumps({"event": name, "data": data}), flush=True)
        end = data
    return end


def _print_lines(events: Iterator[Event], view: View) -> dict[str, Any]:
    last, said = float("-inf"), ""
    for name, data in events:
        if name == "end":
            if view.update and view.line() != said:
                print(view.line(), flush=True)
            return data
        view.hear(name, data)
        if name == "stage":
            print(view.stage, flush=True)
        elif name == "update" and time.monotonic() - last >= LINE_EVERY:
            last, said = time.monotonic(), view.line()
            print(said, flush=True)
    raise AssertionError("unreachable: events end with the end")


def _draw(events: Iterator[Event], view: View, console: Any) -> dict[str, Any]:
    from rich.live import Live

    with Live(view, console=console, screen=True, auto_refresh=False) as live:
        for name, data in events:
            if name == "end":
                return data
            view.hear(name, data)
            live.refresh()
    raise AssertionError("unreachable: events end with the end")
