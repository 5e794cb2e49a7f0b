#!/usr/bin/env python3
"""Make the pictures of the README from a real run: docs/pictures/live.png and docs/pictures/report.png.

Needs root, Debian's chromium and the packages of ``make test``:

    sudo .venv/bin/python scripts/pictures.py [EXPERIMENT]
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
SLOWLY = ("--duration", "15 ms", "--dilation", "3000")  # the browser runs on the same cores
LIVE = ("--ui", "--metrics-addr", "127.0.0.1:0")
BROWSER = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
MOMENT = r"^ *([78]\d)%"  # of the run, when the live page is taken
MOST_BYTES = 500_000
ATTEMPTS = 4


def main(experiment: str = "incast-64") -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(BROWSER))
        # Taking the picture takes more of the machine than a clean run can spare: the report gets a run of its own.
        live = [*command(experiment, Path(made) / "live"), *LIVE]
        with subprocess.Popen(live, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
            try:
                assert run.stderr is not None
                take_live(browser, run.stderr, FOLDER / "live.png")
            finally:
                run.send_signal(signal.SIGINT)
                run.communicate()
        take_report(browser, clean_run(experiment, Path(made)) / "report.html", FOLDER / "report.png")
        browser.close()


def clean_run(experiment: str, folder: Path) -> Path:
    """The results of the first clean run of a few attempts."""
    for attempt in range(ATTEMPTS):
        results = folder / f"report-{attempt}"
        if subprocess.run(command(experiment, results), check=False).returncode == 0:
            return results
    sys.exit(f"no clean run in {ATTEMPTS} attempts: try again on a quiet machine")


def command(experiment: str, results: Path) -> list[str]:
    return [sys.executable, "-m", "testbed", "run", experiment, *SLOWLY, "--out", str(results)]


def read_until(told: IO[str], pattern: str) -> str:
    """What the run says goes on to stderr; returns what the pattern found."""
    for line in told:
        sys.stderr.write(line)
        if found := re.search(pattern, line):
            return found[1]
    sys.exit("the run ended too early")


def take_live(browser: Browser, told: IO[str], file: Path) -> None:
    page = open_page(browser, read_until(told, r"live page: (\S+)"))
    page.keyboard.press("p")  # paused: drawing in twice the resolution would take a core from the rack
    read_until(told, MOMENT)
    page.keyboard.press("p")
    page.wait_for_timeout(300)
    if (verdict := page.inner_text("#verdict")) != "clean so far":
        sys.exit(f"the page says '{verdict}': try again on a quiet machine\n{page.inner_text('#reasons')}")
    take(page, file)


def take_report(browser: Browser, report: Path, file: Path) -> None:
    page = open_page(browser, report.as_uri())
    page.wait_for_timeout(1000)
    take(page, file)


def open_page(browser: Browser, url: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 800}, device_scale_factor=2, color_scheme="light")
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
