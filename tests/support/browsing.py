"""A real browser: Debian's Chromium, headless. One at a time; close it before a census is taken."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, expect, sync_playwright

from tests.support.waiting import PATIENCE

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--in-process-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
DESKTOP = {"width": 1280, "height": 800}
NOTHING = "about:blank"
PHONE = {"width": 390, "height": 844}
expect.set_options(timeout=1000 * PATIENCE)  # of a busy machine


@contextmanager
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("needs Debian's chromium: make setup")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """One page that is looked at, and what went wrong on it."""

    page: Page
    errors: list[str] = field(default_factory=list)

    def said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def failed(self, error: Error) -> None:
        self.errors.append(str(error))

    def updates(self) -> int:
        return int(self.page.evaluate("document.body.dataset.updates ?? 0"))

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def picture(self, chart: str) -> str:
        """What is drawn on a chart's canvas."""
        return str(self.page.evaluate(f"document.querySelector('#{chart} canvas').toDataURL()"))

    def wait_for_another_picture(self, chart: str, before: str) -> None:
        """Until something else is drawn on a chart's canvas."""
        there = f"document.querySelector('#{chart} canvas').toDataURL()"
        self.page.wait_for_function(f"(before) => {there} !== before", arg=before, polling=50)

    def runs_what_is_written_into_it(self) -> bool:
        """Whether the page's policy lets a script run that somebody got into its markup."""
        self.page.evaluate("""() => {
            document.body.insertAdjacentHTML("beforeend", "<img src='data:,' onerror='window.ran = true'>");
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
        }""")
        self.page.wait_for_timeout(100)
        refused = [error for error in self.errors if "Content Security Policy" in error]
        self.errors = [error for error in self.errors if error not in refused]
        return len(refused) < 2 or bool(self.page.evaluate("window.ran ?? false"))

    def overflow(self) -> int:
        """Pixels that the page is wider than the screen."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))

    def barriers(self) -> list[str]:
        """What keeps somebody from reading or using it, as axe-core finds: contrast, names, keyboard."""
        found = Axe().run(self.page, options={"resultTypes": ["violations"]}).response["violations"]
        serious = [one for one in found if one["impact"] in {"serious", "critical"}]
        return [f"{one['id']}: {node['html'][:120]}" for one in serious for node in one["nodes"]]


@contextmanager
def visit(browser: Browser, url: str, size: dict[str, int] | None = None, dark: bool = False) -> Iterator[Visit]:
    size = size or DESKTOP
    page = _unused(browser)
    page.set_default_timeout(1000 * PATIENCE)
    page.set_viewport_size({"width": size["width"], "height": size["height"]})
    page.emulate_media(media="null", color_scheme="dark" if dark else "light")
    seen = Visit(page)
    page.on("console", seen.said)
    page.on("pageerror", seen.failed)
    try:
        page.goto(url)
        yield seen
    except BaseException:
        page.close()
        raise
    page.remove_listener("console", seen.said)
    page.remove_listener("pageerror", seen.failed)
    page.goto(NOTHING)
    page.mouse.move(0, 0)


def _unused(browser: Browser) -> Page:
    """One that a visit has left, if there is one: a new one is a new process, which costs more than most visits."""
    left = (page for context in browser.contexts for page in context.pages if page.url == NOTHING)
    return next(left, None) or browser.new_page()
