"""The live page in a browser and `testbed watch` on a terminal, beside a run that goes on until they have seen it."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, expect

from tests.support.browsing import PHONE, visit
from tests.support.failing import GOOD_THRESHOLDS, TUNER, plugin
from tests.support.runs import UNDRAWN
from tests.support.terminals import TESTBED, Terminal
from tests.support.waiting import PATIENCE

# tests/live/test_real_run.py follows one of the kernel engine.
RUN = ("run", "incast-8", "--engine", "virtual", "--duration", "12 ms", "--set", "time.warmup=1 ms", "--ui")
# Takes minutes for 12 ms, and is quick once they have seen enough.
SLOW = """[
    __import__('time').sleep(0.02) for _ in range(100) if not __import__('os').path.exists('{seen}')
].clear()"""


def test_page_and_terminals_beside_a_run(tmp_path: Path, browser: Browser) -> None:
    tuner, _ = plugin(tmp_path, TUNER, initial=GOOD_THRESHOLDS, slot=SLOW.format(seen=tmp_path / "seen"))
    out = tmp_path / "out"
    run = [*TESTBED, *RUN, *UNDRAWN, "--tuner", str(tuner), "--metrics-addr", "127.0.0.1:0", "--out", str(out)]
    process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = process.stderr.readline() + process.stderr.readline()  # which tuner instead of which, and where the page is
    found = re.search(r"http://([\d.:]+)", said)
    assert found, said + process.stderr.read()
    address = found[1]
    watch = subprocess.Popen([*TESTBED, "watch", address, "--format", "json"], stdout=subprocess.PIPE, text=True)
    assert watch.stdout is not None
    terminal = Terminal.start("watch", address, columns=100, rows=30)
    with ExitStack() as visits:
        desk = visits.enter_context(visit(browser, f"http://{address}/"))
        expect(desk.page.locator("body")).to_have_attribute("data-updates", re.compile(r"^[1-9]\d*$"))
        first = desk.updates()
        pictures = {name: desk.picture(name) for name in ("queue", "goodput", "rate", "rtt")}
        phone = visits.enter_context(visit(browser, f"http://{address}/", PHONE, True))
        expect(phone.page.locator("body")).to_have_attribute("data-updates", re.compile(r"^[1-9]\d*$"))
        terminal.read_until("h8-h9")
        (tmp_path / "seen").touch()
        for seen in (desk, phone):
            expect(seen.page.locator("#connection")).to_have_text("ended")
        told = [json.loads(line) for line in watch.stdout]
        times = [event["data"]["time"] for event in told if event["event"] == "update"]
        assert times == sorted(times)
        expect(desk.page.locator("body")).to_have_attribute("data-updates", str(len(times)))
        assert 1 <= first < len(times)
        assert float(desk.page.locator("#queue").get_attribute("data-time") or 0) == pytest.approx(12e-3, abs=1e-3)
        for name, before in pictures.items():
            assert desk.picture(name) != before, name
        summary = json.loads((out / "summary.json").read_text())
        assert desk.text("#verdict") == phone.text("#verdict") == summary["verdict"]["word"] == "clean"
        assert f"{summary['su']:.2f} %" in desk.text("#figures")
        assert str(out) in desk.text("#result-note")
        assert phone.overflow() <= 0
        assert desk.barriers() == phone.barriers() == []
        assert desk.errors == phone.errors == []
    said = process.stderr.read()
    assert "Traceback" not in said, said
    assert process.wait(timeout=PATIENCE) == watch.wait(timeout=PATIENCE) == terminal.finish() == 0
    assert told[-1]["event"] == "end"
    newest = "\n".join(terminal.frames()[-1])
    assert "incast-8 · dcqcn + mine" in newest
    assert "h8-h9" in newest
    shown = subprocess.run([*TESTBED, "watch", str(out)], capture_output=True, text=True, check=False)
    assert shown.returncode == 0
    for row in told[-1]["data"]["figures"]:
        assert row["values"][0][0] in shown.stdout
        assert row["values"][0][0] in terminal.after()
