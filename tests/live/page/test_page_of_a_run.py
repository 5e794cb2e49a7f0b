"""The live page in a real browser and `testbed watch` on a terminal, both beside a real run."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from tests.support.browsing import PHONE, chromium, visit
from tests.support.runs import UNCALIBRATED, UNDRAWN
from tests.support.terminals import TESTBED, Terminal
from tests.support.waiting import PATIENCE

pytestmark = [pytest.mark.root, pytest.mark.parallel]  # whatever the verdict, pages and terminals say so

RUN = ("run", "incast-8", "--set", "time.warmup=1 ms", "--metrics-addr", "127.0.0.1:0", *UNCALIBRATED, *UNDRAWN)


def start(folder: Path, *options: str) -> tuple[subprocess.Popen[str], str]:
    """The run and the address that it prints."""
    process = subprocess.Popen(
        [*TESTBED, *RUN, *options, "--out", str(folder / "out")],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"http://([\d.:]+)", line):
            return process, found[1]
    raise AssertionError("it never said its address")


def end(process: subprocess.Popen[str]) -> int:
    """Its exit code."""
    assert process.stderr is not None
    told = process.stderr.read()
    assert "Traceback" not in told, told
    return process.wait(timeout=PATIENCE)


@pytest.mark.slow
def test_the_page_of_a_real_run(tmp_path: Path) -> None:
    with chromium() as browser:  # before the run: a starting browser takes what the emulation needs
        process, address = start(tmp_path, "--duration", "12 ms", "--ui")
        watch = [*TESTBED, "watch", address, "--format", "json"]
        reader = subprocess.Popen(watch, stdout=subprocess.PIPE, text=True)
        with ExitStack() as visits:
            desk = visits.enter_context(visit(browser, f"http://{address}/"))
            queue, updates = desk.page.locator("#queue"), re.compile(r"^[1-9]\d*$")
            expect(desk.page.locator("body")).to_have_attribute("data-updates", updates, timeout=1000 * PATIENCE)
            first = desk.updates()
            pictures = {name: desk.picture(name) for name in ("queue", "goodput", "rate", "rtt")}
            phone = visits.enter_context(visit(browser, f"http://{address}/", PHONE, True))
            for seen in (desk, phone):
                expect(seen.page.locator("#connection")).to_have_text("ended", timeout=1000 * PATIENCE)
            last = desk.updates(), float(queue.get_attribute("data-time") or 0)
            told = reader.communicate()[0].splitlines()
            assert first < last[0] == sum(json.loads(line)["event"] == "update" for line in told)
            assert last[1] == pytest.approx(12e-3, abs=1e-3)
            for name, before in pictures.items():
                assert desk.picture(name) != before, name
            summary = json.loads((tmp_path / "out" / "summary.json").read_text())
            word = "degraded" if summary["verdict"]["reasons"] else "clean"
            assert desk.text("#verdict") == phone.text("#verdict") == word
            assert f"{summary['su']:.2f} %" in desk.text("#figures")
            assert str(tmp_path / "out") in desk.text("#result-note")
            assert phone.overflow() <= 0
            assert desk.errors == phone.errors == []
        assert end(process) == {"clean": 0, "degraded": 3}[word]


def test_watching_a_real_run(tmp_path: Path) -> None:
    process, address = start(tmp_path, "--duration", "2 ms")
    terminal = Terminal.start("watch", address, columns=100, rows=30)
    told = subprocess.run([*TESTBED, "watch", address, "--format", "json"], capture_output=True, text=True, check=False)
    code = end(process)
    assert terminal.finish() == code == told.returncode
    events = [json.loads(line) for line in told.stdout.splitlines()]
    times = [event["data"]["time"] for event in events if event["event"] == "update"]
    assert times == sorted(times)
    assert len(times) >= 2
    assert events[-1]["event"] == "end"
    newest = "\n".join(terminal.frames()[-1])
    assert "incast-8 · dcqcn + static" in newest
    assert "h8-h9" in newest
    shown = subprocess.run([*TESTBED, "watch", str(tmp_path / "out")], capture_output=True, text=True, check=False)
    assert shown.returncode == code
    for row in events[-1]["data"]["figures"]:
        assert row["values"][0][0] in shown.stdout
        assert row["values"][0][0] in terminal.after()
