"""What tests wait for and count on the live page that a replayed run is shown on."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.browsing import Visit
from tests.support.replayed import EVENTS, UPDATES

SCENE = next(number for number, event in enumerate(EVENTS) if event["event"] == "scene")


def has_ended(seen: Visit) -> None:
    expect(seen.page.locator("#connection")).to_have_text("ended")
    has_drawn(seen, UPDATES)


def has_drawn(seen: Visit, updates: int) -> None:
    expect(seen.page.locator("body")).to_have_attribute("data-updates", str(updates))


def ports_in(seen: Visit) -> int:
    """How many ports have a place in the drawing."""
    of_all = "[...document.querySelectorAll('#topology [data-port]')].map((one) => one.dataset.port)"
    return int(seen.page.evaluate(f"new Set({of_all}).size"))
