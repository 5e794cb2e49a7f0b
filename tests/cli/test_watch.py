"""`testbed watch`, fed with the events of a real run: on terminals, as lines, as JSON; and all that goes wrong."""

from __future__ import annotations

import copy
import json
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from testbed.cli import watch as watching
from testbed.errors import BadInput
from testbed.results.folder import load
from testbed.results.report.table import figures
from tests.support.commands import command
from tests.support.folders import results
from tests.support.replayed import EVENTS, UPDATES, replay, served
from tests.support.terminals import Terminal

END = EVENTS[-1]["data"]
EXIT = {"clean": 0, "degraded": 3}[END["verdict"]]


def watch(*arguments: str) -> subprocess.CompletedProcess[str]:
    return command("watch", *arguments)


def refused(*arguments: str) -> str:
    """The one message of a watch that could not be."""
    done = watch(*arguments)
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


def test_plain_lines_and_the_table() -> None:
    with replay() as server:
        done = watch(str(server.port))
    assert done.returncode == EXIT
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == "building 9 hosts"
    assert any("utilisation" in line and "RTT p50" in line for line in lines)
    assert f"verdict: {END['verdict']}" in lines
    for row in END["figures"]:
        assert any(line.startswith(row["name"]) and row["values"][0][0] in line for line in lines)
    assert lines[-1] == f"results: {END['folder']}"


@pytest.mark.parametrize("columns", [40, 80])
def test_a_folders_table_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    folder = results(tmp_path / "run", degraded=True)
    monkeypatch.setenv("COLUMNS", str(columns))
    done = watch(str(folder))
    assert done.returncode == 3
    assert [line for line in done.stdout.splitlines() if len(line) > columns] == []
    for row in figures(load(folder).summary).rows:
        for cell in row[1:]:
            assert re.search(rf"(?m)\b{re.escape(cell.text)} {re.escape(cell.note)} *$", done.stdout) or columns > 40
            assert f"{cell.text} {cell.note}" in done.stdout


def test_json_is_what_the_run_sends() -> None:
    with replay() as server:
        done = watch(f"127.0.0.1:{server.port}", "--format", "json")
    assert done.returncode == EXIT
    sent = [{"event": event["event"], "data": served(event)} for event in EVENTS]
    assert [json.loads(line) for line in done.stdout.splitlines()] == sent


@pytest.mark.parametrize(("columns", "rows"), [(100, 30), (40, 8), (20, 3)])
def test_a_terminal_of_any_size(columns: int, rows: int) -> None:
    with replay() as server:
        terminal = Terminal.start("watch", str(server.port), columns=columns, rows=rows)
        assert terminal.finish() == EXIT
    frames = terminal.frames()
    assert len(frames) >= UPDATES
    for frame in frames:
        assert len(frame) <= rows
        assert [line for line in frame if len(line) > columns] == []
    if columns >= 80:
        newest = "\n".join(frames[-1])
        for word in ("incast-8 · dcqcn + static", "utilisation", "Kmin 400 kB", "Kmax 1.6 MB", "h1-h9", "h8-h9"):
            assert word in newest
    assert [line for frame in frames for line in frame[1:] if "…" in line] == []  # but for the title, all is whole
    assert f"verdict: {END['verdict']}" in terminal.after()
    lines = terminal.after().splitlines()
    for row in END["figures"]:
        for text, _ in row["values"]:
            assert any(text in line for line in lines), f"{text} was cut"
    assert [line for line in lines if len(line.rstrip()) > columns and not line.startswith("results:")] == []
    assert terminal.text.count("\x1b[?25l") == terminal.text.count("\x1b[?25h")  # the cursor is back


def test_ctrl_c_leaves_quietly() -> None:
    with replay(held=len(EVENTS) - 5) as server:
        terminal = Terminal.start("watch", str(server.port))
        terminal.read_until("h8-h9")
        os.kill(terminal.process.pid, 2)
        assert terminal.finish() == 130
    assert terminal.after().strip() in ("", "^C")


def test_a_connection_cut_in_the_middle() -> None:
    with replay(cut=len(EVENTS) - 5) as server:
        done = watch(str(server.port))
    assert done.returncode == 1
    assert done.stderr == (
        f"testbed: the connection to 127.0.0.1:{server.port} broke before the run told its end: "
        "it was killed or stopped\n"
    )


def test_a_run_that_failed() -> None:
    told = {"verdict": "failed", "reasons": ["my_cc.py:3: no"], "figures": [], "notes": [], "folder": None}
    with replay([EVENTS[0], {"event": "end", "data": told}]) as server:
        done = watch(str(server.port))
    assert done.returncode == 1
    assert done.stderr == "testbed: the run failed: my_cc.py:3: no\n"


def test_nobody_is_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound, but it does not listen
        port = free.getsockname()[1]
        assert f"no run at 127.0.0.1:{port} (Connection refused), start one with" in refused(str(port))


@pytest.mark.parametrize("run", ["nonsense", "99999", "0", "a b:1", "host:port", "no/such/folder/"])
def test_no_address_and_no_folder(run: str) -> None:
    with pytest.raises(BadInput, match=re.escape(run.rstrip("/"))):
        watching.watch(run)


def test_a_folder_without_results(tmp_path: Path) -> None:
    assert "is not a results folder" in refused(str(tmp_path))


class Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def web_server() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Elsewhere)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


def test_another_web_server(web_server: int) -> None:
    assert f"127.0.0.1:{web_server} is not a run: its /live answered 404" in refused(str(web_server))


def test_no_web_server_at_all() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def greet() -> None:
            with server.accept()[0] as one:
                one.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        assert "does not speak HTTP" in refused(str(port))
        thread.join()


def test_another_version() -> None:
    events = copy.deepcopy(EVENTS)
    for event in events:
        event["data"].pop("ports", None)
    with replay(events) as server:
        done = watch(str(server.port))
    assert done.returncode == 1
    assert "another version of testbed" in done.stderr
