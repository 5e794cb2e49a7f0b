"""The live page in a real browser, fed with the events of a real run."""

from __future__ import annotations

import copy
import re

import pytest

from testbed.live.page import page

pytest.importorskip("playwright")

from playwright.sync_api import Browser, expect

from tests.live.page.seen import SCENE, has_drawn, has_ended, ports_in
from tests.support.browsing import PHONE, visit
from tests.support.replayed import EVENTS, UPDATES, of_queues, of_two_controllers, replay

CHARTS = ("queue", "goodput", "rate", "rtt", "utilisation", "fairness")


def test_it_is_one_document_that_loads_nothing() -> None:
    content, policy = page()
    text = content.decode()
    assert "%STYLE%" not in text
    assert re.findall(r'(?:src|href|srcset|action)\s*=\s*"([^"]*)"', text) == ["data:,"]
    assert not re.search(r"@import|url\(", text)
    assert policy.startswith("default-src 'none'")
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy


def test_every_colour_is_one_of_the_palette() -> None:
    text = page().content.decode()
    defined = set(re.findall(r"(--[\w-]+)\s*:", text))
    assert set(re.findall(r"var\((--[\w-]+)\)", text)) <= defined


def test_it_shows_a_run_to_its_end(browser: Browser) -> None:
    events = copy.deepcopy(EVENTS)
    scene, last, end = events[SCENE]["data"], events[-3]["data"], events[-1]["data"]
    scene |= {"engine": "virtual", "how": "virtual engine: simulated with the rack's programs"}  # as that engine's
    with replay(events) as server, visit(browser, server.url) as seen:
        has_ended(seen)
        assert seen.text("h1") == "incast-8 · dcqcn + static"
        assert f", {scene['how']}, seed 1" in seen.text("#about")
        assert seen.text("#verdict") == end["verdict"]
        assert end["folder"] in seen.text("#result-note")
        for row in end["figures"]:
            assert row["values"][0][0] in seen.text("#figures")
        assert seen.page.locator("#reasons li").count() == len(end["reasons"])
        assert ports_in(seen) == len(scene["ports"]) == 9
        assert seen.page.locator("#topology [data-way=sent]").last.get_attribute("stroke") == "var(--u5)"
        for chart in CHARTS:
            assert seen.page.locator(f"#{chart} .plot").is_visible()
        assert int(seen.page.locator("#queue").get_attribute("data-points") or 0) == UPDATES
        assert "utilisation" in (seen.page.locator("#utilisation").get_attribute("data-last") or "")
        legend = seen.text("#queue .legend")  # of the bottleneck, until another port is chosen
        assert all(told in legend for told in ("Kmin 400 kB", "Kmax 1.60 MB", "Pmax 20.0 %")), legend
        assert seen.page.locator("#distortion .bar").count() == len(last["distortion"])
        for of_several in ("#share", "#jobs"):  # there is one controller, and no job
            assert not seen.page.locator(of_several).is_visible()
        assert seen.errors == []
        assert not seen.runs_what_is_written_into_it()


@pytest.mark.parametrize("width", [320, 1280])
def test_several_controllers_have_shares(browser: Browser, width: int) -> None:
    with replay(of_two_controllers()) as server, visit(browser, server.url, {"width": width, "height": 800}) as seen:
        has_ended(seen)
        last = seen.page.locator("#controllers tr").last.locator("th, td")
        assert last.all_inner_texts()[:2] == ["nscc", "30.0 %"]
        assert "dctcp 70.0 %" in seen.text("#share .legend")
        assert seen.overflow() <= 0
        assert seen.errors == []


@pytest.mark.parametrize("width", [320, 1280])
def test_queues_of_the_port_that_is_chosen(browser: Browser, width: int) -> None:
    events = of_queues()
    last = [event["data"] for event in events if event["event"] == "update"][-1]
    last["queues"]["drops"][0] = 77  # of the first port
    with replay(events) as server, visit(browser, server.url, {"width": width, "height": 800}) as seen:
        has_ended(seen)
        rows = [row.locator("th, td").all_inner_texts() for row in seen.page.locator("#queue-rows tr").all()]
        assert rows[0] == [
            "q3 rdma", "12.0 kB", "90.0 kB", "75.0 %", "12.5 %", "3", "400 us", "5.00 kB", "200 kB", "1.0 %",
        ]  # fmt: skip
        assert rows[1] == ["q7 cnp", "0 kB", "64.0 B", "1.0 %", "0.0 %", "0", "0 us", *3 * ["\u2013"]]
        assert seen.text("#queues-port") == "s1-eth9"
        sent = seen.page.locator("#topology [data-way=sent]").last
        assert sent.get_attribute("stroke") == "var(--u5)"
        for layer, colour in (("7", "var(--u1)"), ("3", "var(--u3)"), ("", "var(--u5)")):
            seen.page.locator("#layer select").select_option(layer)
            assert sent.get_attribute("stroke") == colour
        seen.page.locator("#port").select_option("0")
        expect(seen.page.locator("#queues-port")).to_have_text("s1-eth1")
        expect(seen.page.locator("#queue-rows td").nth(4)).to_have_text("77")
        assert seen.overflow() <= 0
        assert seen.errors == []


def test_a_few_marks_are_not_none(browser: Browser) -> None:
    events = copy.deepcopy(EVENTS)
    last = [event["data"] for event in events if event["event"] == "update"][-1]
    last["ports"]["marked"][-1] = 2e-4
    with replay(events) as server, visit(browser, server.url) as seen:
        has_ended(seen)
        assert "Marked\n0.02 %" in seen.text("#tiles")


def test_after_the_end_nothing_says_that_it_goes_on(browser: Browser) -> None:
    events = copy.deepcopy(EVENTS)
    events.insert(-1, {"event": "stage", "data": {"text": "writing results"}})
    with replay(events, held=len(events) - 2) as server, visit(browser, server.url) as seen:
        has_drawn(seen, UPDATES)
        clock, pause = seen.page.locator("#clock"), seen.page.locator("#pause")
        expect(pause).to_be_visible()
        server.go_on.set()
        has_ended(seen)
        expect(clock).to_have_text("6.00 of 6 ms nominal")
        expect(pause).to_be_hidden()
        seen.page.keyboard.press("p")  # there is nothing to pause
        seen.page.locator("#port").select_option("0")
        expect(pause).to_be_hidden()
        expect(clock).to_have_text("6.00 of 6 ms nominal")


def test_after_the_end_it_is_left_alone_and_stays_readable(browser: Browser) -> None:
    with replay() as server, visit(browser, server.url) as seen:
        has_ended(seen)
        server.shutdown()
        server.server_close()
        seen.page.wait_for_timeout(900)  # the first retry would come after half a second
        assert server.connections == 1
        assert seen.errors == []
        assert seen.text("#connection") == "ended"
        seen.page.locator("#port").select_option("0")
        expect(seen.page.locator("#figures tr").first).to_be_visible()


def test_a_broken_connection_is_made_again_and_nothing_counts_twice(browser: Browser) -> None:
    with replay(cut=SCENE + 9) as server, visit(browser, server.url) as seen:
        has_ended(seen)
        assert server.connections == 2
        assert seen.page.locator("#queue").get_attribute("data-points") == str(UPDATES)


def test_a_server_that_has_gone_is_not_asked_for_ever(browser: Browser) -> None:
    with replay(EVENTS[: SCENE + 9], held=SCENE + 8) as server, visit(browser, server.url) as seen:
        has_drawn(seen, 7)
        seen.page.evaluate("RETRIES.splice(0, RETRIES.length, 0.05, 0.05)")
        server.shutdown()
        server.server_close()
        server.go_on.set()
        expect(seen.page.locator("#connection")).to_have_text("connection lost")
        asked = len(seen.errors)
        assert asked <= 3
        seen.page.wait_for_timeout(600)
        assert len(seen.errors) == asked
        assert seen.updates() == 8


def test_paused_it_stands_still_and_then_catches_up(browser: Browser) -> None:
    with replay(held=SCENE + 9) as server, visit(browser, server.url) as seen:
        has_drawn(seen, 8)
        seen.page.locator("#pause").click()
        before = seen.picture("queue")
        server.go_on.set()
        expect(seen.page.locator("#connection")).to_have_text("ended")
        assert (seen.updates(), seen.picture("queue")) == (8, before)
        expect(seen.page.locator("#pause")).to_have_text("Resume")
        seen.page.keyboard.press("p")
        has_ended(seen)
        assert seen.picture("queue") != before
        expect(seen.page.locator("#pause")).to_be_hidden()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_fits_a_phone(browser: Browser, dark: bool) -> None:
    with replay() as server, visit(browser, server.url, PHONE, dark) as seen:
        has_ended(seen)
        assert seen.overflow() <= 0
        assert seen.page.locator("#verdict").is_visible()


CUT = """[...document.querySelectorAll("%s")].flatMap((cell) => {
  const box = cell.getBoundingClientRect(), around = cell.closest(".panel, .tiles").getBoundingClientRect();
  const text = document.createRange();
  text.selectNodeContents(cell);
  const { left, right, height } = text.getBoundingClientRect();
  const line = 1.5 * parseFloat(getComputedStyle(cell).fontSize);
  const whole = left >= around.left && right <= Math.min(box.right + 0.5, around.right) && height <= line;
  return whole ? [] : [cell.textContent];
})"""


def test_no_figure_is_cut_or_broken_at_any_width(browser: Browser) -> None:
    events = copy.deepcopy(EVENTS)
    wide = [["1,234.5 Gbit/s", "per host"], ["104.86 us", "busiest port"], ["0.0000 %", "of passed"]]
    events[-1]["data"]["figures"] += [{"name": "slowdown of mice", "values": wide}]
    with replay(events) as server, visit(browser, server.url) as seen:
        has_ended(seen)
        assert seen.page.locator("#figures tr").last.locator("td").count() == len(wide)
        for width in (320, 390, 720, 1000, 1280):
            seen.page.set_viewport_size({"width": width, "height": 800})
            assert seen.page.evaluate("innerWidth") == width
            assert seen.page.evaluate(CUT % "#figures td, .tiles dd") == [], width
            assert seen.overflow() <= 0, width


def test_the_layout_does_not_shift_while_figures_come(browser: Browser) -> None:
    places = "[...document.querySelectorAll('.panel')].map((one) => one.getBoundingClientRect().top)"
    with replay(held=SCENE + 2) as server, visit(browser, server.url) as seen:
        has_drawn(seen, 1)
        before = seen.page.evaluate(places)
        server.go_on.set()
        has_ended(seen)
        assert seen.page.evaluate(places) == before


def test_a_run_that_fails_before_it_begins(browser: Browser) -> None:
    told = {"verdict": "failed", "reasons": ["link <b>h1</b>: no rate"], "figures": [], "notes": []}
    told |= {"time": None, "folder": None}
    events = [{"event": "stage", "data": {"text": "building"}}, {"event": "end", "data": told}]
    with replay(events) as server, visit(browser, server.url) as seen:
        expect(seen.page.locator("#verdict")).to_have_text("failed")
        assert seen.text("#reasons") == "link <b>h1</b>: no rate"
        assert seen.text("#clock") == ""
        assert seen.errors == []
