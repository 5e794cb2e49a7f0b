"""The charts: their axes, what the pointer and the keyboard find in them, and when they are drawn."""

from __future__ import annotations

import copy
import re

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, expect

from tests.live.page.seen import SCENE, has_drawn, has_ended
from tests.support.browsing import PHONE, visit
from tests.support.replayed import EVENTS, UPDATES, replay


def test_another_port_and_the_pointer_and_the_keyboard(browser: Browser) -> None:
    with replay() as server, visit(browser, server.url) as seen:
        has_ended(seen)
        bottleneck = seen.picture("queue")
        seen.page.locator("#port").select_option("0")
        seen.wait_for_another_picture("queue", bottleneck)
        seen.page.locator("#goodput .plot").hover()
        assert re.match(r"h\d-h9 .*Gbit/s", seen.text("#tip"))
        seen.page.mouse.move(0, 0)
        assert not seen.page.locator("#tip").is_visible()
        seen.page.locator("#goodput .plot").focus()
        seen.page.keyboard.press("ArrowLeft")
        first = seen.text("#tip")
        seen.page.keyboard.press("ArrowUp")
        assert seen.text("#tip").split()[0] != first.split()[0]
        assert seen.errors == []


def test_only_what_is_on_the_screen_is_drawn(browser: Browser) -> None:
    with replay() as server, visit(browser, server.url, PHONE) as seen:
        has_ended(seen)
        chart = seen.page.locator("#fairness")
        assert chart.get_attribute("data-points") is None
        chart.scroll_into_view_if_needed()
        expect(chart).to_have_attribute("data-points", str(UPDATES))


def test_a_burst_at_the_start_does_not_squash_the_rtt(browser: Browser) -> None:
    """Half of the updates are from the warm-up, and far above the rest: the axis fits the rest and says so."""
    events = copy.deepcopy(EVENTS)
    updates = [event["data"] for event in events if event["event"] == "update"]
    warmup = updates[len(updates) // 2]["time"]
    events[SCENE]["data"]["warmup"] = warmup
    for number, one in enumerate(updates):
        early = one["time"] <= warmup
        one["rtt"] = {"p50": 300e-6, "p99": 412e-6 - number * 1e-6} if early else {"p50": 12e-6, "p99": 15e-6}
    with replay(events) as server, visit(browser, server.url) as seen:
        has_ended(seen)
        seen.page.locator("#rtt").scroll_into_view_if_needed()
        expect(seen.page.locator("#rtt")).to_have_attribute("data-points", str(UPDATES))
        (top,) = seen.page.evaluate("charts.filter((one) => one.figure.id === 'rtt').map((one) => one.top)")
        assert 15e-6 <= top <= 20e-6
        expect(seen.page.locator("#rtt .beyond")).to_have_text("▲ 412 us")
        expect(seen.page.locator("#rtt .beyond")).to_be_visible()
        expect(seen.page.locator("#goodput .beyond")).to_be_hidden()  # nothing is beyond that one


def test_what_has_room_is_not_cut_off(browser: Browser) -> None:
    with replay() as server, visit(browser, server.url) as seen:
        has_ended(seen)
        seen.page.locator("#rtt").scroll_into_view_if_needed()
        expect(seen.page.locator("#rtt")).to_have_attribute("data-points", str(UPDATES))
        highest = max(event["data"]["rtt"]["p99"] for event in EVENTS if event["event"] == "update")
        shown = seen.page.locator("#rtt .beyond").is_visible()
        (top,) = seen.page.evaluate("charts.filter((one) => one.figure.id === 'rtt').map((one) => one.top)")
        assert shown == (highest > top)


def test_dark_and_light_differ_also_on_the_canvas(browser: Browser) -> None:
    with replay() as server, visit(browser, server.url) as seen:
        has_ended(seen)
        light = seen.picture("queue"), seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        seen.page.emulate_media(color_scheme="dark")
        seen.wait_for_another_picture("queue", light[0])
        assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") != light[1]


def test_a_long_run_is_thinned_and_keeps_its_peaks(browser: Browser) -> None:
    one = next(event for event in EVENTS if event["event"] == "update")
    scene = copy.deepcopy(EVENTS[SCENE])
    scene["data"]["duration"] = 1.0
    events = [scene, *(copy.deepcopy(one) for _ in range(1500))]
    for number, event in enumerate(events[1:], start=1):
        event["data"]["time"] = number / 1500
    events[700]["data"]["ports"]["queue"][-1] = 4.5e6
    with replay(events, held=len(events)) as server, visit(browser, server.url) as seen:
        has_drawn(seen, 1500)
        times = seen.page.evaluate("view.history.rows.map((row) => row.time)")
        assert 300 <= len(times) <= 600
        assert times == sorted(times)
        assert times[-1] == pytest.approx(1.0, abs=0.01)
        assert seen.page.evaluate("Math.max(...view.history.rows.map((row) => row.queue.at(-1)))") == 4.5e6
        assert seen.page.locator("#queue").get_attribute("data-points") == str(len(times))
        assert seen.errors == []
