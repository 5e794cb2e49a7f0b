#!/usr/bin/env python3
"""Make docs/pictures/live.png and docs/pictures/report.png from runs on the virtual clock, on however busy a machine.

Needs Debian's chromium and the packages of ``make test``:

    .venv/bin/python scripts/pictures.py [EXPERIMENT]
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
LONG, SHORT = ("--duration", "200 ms"), ("--duration", "15 ms")  # so that somebody can watch the first; the report's
LIVE = ("--ui", "--metrics-addr", "127.0.0.1:0")
BROWSER = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
MOMENT = 20  # updates, of which there are five per second, until the live page is taken
MOST_BYTES = 500_000


def main(experiment: str = "incast-64") -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(BROWSER))
        live = [*command(experiment, Path(made) / "live"), *LONG, *LIVE]
        with subprocess.Popen(live, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
            try:
                assert run.stderr is not None
                take_live(browser, run.stderr, FOLDER / "live.png")
            finally:
                run.send_signal(signal.SIGINT)
                run.communicate()
        results = Path(made) / "report"
        subprocess.run([*command(experiment, results), *SHORT], check=True)
        take_report(browser, results / "report.html", FOLDER / "report.png")
        browser.close()


def command(experiment: str, results: Path) -> list[str]:
    return [sys.executable, "-m", "testbed", "run", experiment, "--engine", "virtual", "--out", str(results)]


def read_until(told: IO[str], pattern: str) -> str:
    """What the run says goes on to stderr; returns what the pattern found."""
    for line in told:
        sys.stderr.write(line)
        if found := re.search(pattern, line):
            return found[1]
    sys.exit("the run ended too early")


def take_live(browser: Browser, told: IO[str], file: Path) -> None:
    page = open_page(browser, read_until(told, r"live page: (\S+)"))
    while int(page.evaluate("document.body.dataset.updates ?? 0")) < MOMENT:
        page.wait_for_timeout(100)
    page.keyboard.press("p")  # it stands still for its picture
    page.wait_for_timeout(300)
    take(page, file)


def take_report(browser: Browser, report: Path, file: Path) -> None:
    page = open_page(browser, report.as_uri(), height=1152)  # down to the first plots
    page.wait_for_timeout(1000)
    take(page, file)


def open_page(browser: Browser, url: str, height: int = 800) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": height}, device_scale_factor=2, color_scheme="light")
    page.goto(url)
    return page


def take(page: Page, file: Path) -> None:
    """A screenshot in 256 colours, which is all that a page of lines and text has."""
    page.screenshot(path=file)
    page.close()
    with Image.open(file) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)
    size = file.stat().st_size
    print(f"{file}: {size / 1e3:.0f} kB")
    if size > MOST_BYTES:
        sys.exit(f"{file} is larger than {MOST_BYTES / 1e3:.0f} kB")


if __name__ == "__main__":
    main(*sys.argv[1:])
