"""The live page in a real browser, fed with the events of a real run."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest

from testbed.live.page import page

pytest.importorskip("playwright")

from playwright.sync_api import Browser, expect

from tests.support.browsing import DESKTOP, PHONE, Visit, chromium, visit
from tests.support.replayed import EVENTS, UPDATES, of_two_controllers, of_two_jobs, replay

SCENE = next(number for number, event in enumerate(EVENTS) if event["event"] == "scene")
CHARTS = ("queue", "goodput", "rate", "rtt", "utilisation", "fairness")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


def has_ended(seen: Visit) -> None:
    expect(seen.page.locator("#connection")).to_have_text("ended")
    has_drawn(seen, UPDATES)


def has_drawn(seen: Visit, updates: int) -> None:
    expect(seen.page.locator("body")).to_have_attribute("data-updates", str(updates))


def ports_in(seen: Visit) -> int:
    """How many ports have a place in the drawing."""
    of_all = "[...document.querySelectorAll('#topology [data-port]')].map((one) => one.dataset.port)"
    return int(seen.page.evaluate(f"new Set({of_all}).size"))


def inked(seen: Visit) -> list[str]:
    """The colours in the ranks' timeline: of what computes in the first row, of what sends in the second."""
    found: list[str] = seen.page.evaluate("""() => {
        const canvas = document.querySelector("#ranks canvas"), pen = canvas.getContext("2d");
        const ratio = canvas.width / canvas.clientWidth;
        const colours = (y) => {
            const row = pen.getImageData(0, Math.round(y * ratio), canvas.width, 1).data;
            const at = [...row.keys()].filter((i) => i % 4 === 0 && row[i + 3] === 255);
            return new Set(at.map((i) => `${row[i]},${row[i + 1]},${row[i + 2]}`));
        };
        const named = (name) => {
            pen.fillStyle = view.colour(name);
            const [r, g, b] = pen.fillStyle.match(/[0-9a-f]{2}/g).map((one) => parseInt(one, 16));
            return `${r},${g},${b}`;
        };
        return ["c0", "c1"].filter((name, row) => colours(ROW * row + [4, 8][row]).has(named(name)));
    }""")
    return found


def larger(hosts: int, flows_by: str = "flow") -> list[dict[str, Any]]:
    """The same run, as if so many hosts had sent."""
    events = copy.deepcopy(EVENTS)
    for event in events:
        data = event["data"]
        if event["event"] == "scene":
            port = data["ports"][0]
            data["ports"] = [port | {"name": f"s1-eth{i}", "to": f"h{i}"} for i in range(1, hosts + 2)]
            data["flows"] = [{"name": f"h{i}", "src": f"h{i}", "dst": "*"} for i in range(1, hosts + 1)]
            data["bottleneck"], data["flows_by"] = f"s1-eth{hosts + 1}", flows_by
        elif event["event"] == "update":
            data["ports"] = {name: [v[0]] * hosts + [v[-1]] for name, v in data["ports"].items()}
            data["flows"] = {name: (v * hosts)[:hosts] for name, v in data["flows"].items()}
    return events


def test_it_is_one_document_that_loads_nothing() -> None:
    text = page().decode()
    assert "%STYLE%" not in text
    assert re.findall(r'(?:src|href|srcset|action)\s*=\s*"([^"]*)"', text) == ["data:,"]
    assert not re.search(r"@import|url\(", text)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'")
    assert "connect-src 'self'" in policy[1]
    assert "unsafe" not in policy[1]


def test_every_colour_is_one_of_the_palette() -> None:
    text = page().decode()
    defined = set(re.findall(r"(--[\w-]+)\s*:", text))
    assert set(re.findall(r"var\((--[\w-]+)\)", text)) <= defined


def test_it_shows_a_run_to_its_end(browser: Browser) -> None:
    scene, last, end = EVENTS[SCENE]["data"], EVENTS[-3]["data"], EVENTS[-1]["data"]
    with replay() as server, visit(browser, server.url) as seen:
        has_ended(seen)
        assert seen.text("h1") == "incast-8 · dcqcn + static"
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
        assert seen.page.locator("#distortion .bar").count() == len(last["distortion"])
        assert seen.errors == []


@pytest.mark.parametrize("width", [320, 1280])
def test_several_controllers_have_shares_and_one_has_none(browser: Browser, width: int) -> None:
    with replay(of_two_controllers()) as server, visit(browser, server.url, {"width": width, "height": 800}) as seen:
        has_ended(seen)
        last = seen.page.locator("#controllers tr").last.locator("th, td")
        assert last.all_inner_texts()[:2] == ["nscc", "30.0 %"]
        assert "dctcp 70.0 %" in seen.text("#share .legend")
        assert seen.overflow() <= 0
        assert seen.errors == []
    with replay() as server, visit(browser, server.url) as seen:
        has_ended(seen)
        expect(seen.page.locator("#share")).to_be_hidden()


@pytest.mark.parametrize("width", [320, 1280])
def test_jobs_tell_what_they_have_done(browser: Browser, width: int) -> None:
    with replay(of_two_jobs()) as server, visit(browser, server.url, {"width": width, "height": 800}) as seen:
        has_ended(seen)
        rows = [row.locator("th, td").all_inner_texts() for row in seen.page.locator("#job-rows tr").all()]
        assert rows == [["ring", "5 of 8", "2.00 ms", "1.250", "64.0 Gbit/s"], ["training", "0 of 3", *3 * ["\u2013"]]]
        expect(seen.page.locator("#ranks")).to_have_attribute("data-spans", str(3 * UPDATES))
        assert inked(seen) == ["c0", "c1"]
        assert seen.page.locator("#sends circle").count() == 2
        assert seen.overflow() <= 0
        assert seen.errors == []
    with replay() as server, visit(browser, server.url) as seen:
        has_ended(seen)
        expect(seen.page.locator("#jobs")).to_be_hidden()


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


def test_another_port_and_the_pointer_and_the_keyboard(browser: Browser) -> None:
    with replay() as server, visit(browser, server.url) as seen:
        has_ended(seen)
        bottleneck = seen.picture("queue")
        seen.page.locator("#port").select_option("0")
        seen.page.wait_for_timeout(100)
        assert seen.picture("queue") != bottleneck
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


@pytest.mark.parametrize("width", [320, 390, 720, 1000, 1280])
def test_no_figure_is_cut_or_broken(browser: Browser, width: int) -> None:
    events = copy.deepcopy(EVENTS)
    wide = [["1,234.5 Gbit/s", "per host"], ["104.86 us", "busiest port"], ["0.0000 %", "of passed"]]
    events[-1]["data"]["figures"] += [{"name": "slowdown of mice", "values": wide}]
    with replay(events) as server, visit(browser, server.url, {"width": width, "height": 800}) as seen:
        has_ended(seen)
        assert seen.page.locator("#figures tr").last.locator("td").count() == len(wide)
        assert seen.page.evaluate(CUT % "#figures td, .tiles dd") == []
        assert seen.overflow() <= 0


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
        seen.page.wait_for_timeout(200)
        dark = seen.picture("queue"), seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert light[0] != dark[0]
        assert light[1] != dark[1]


def test_the_layout_does_not_shift_while_figures_come(browser: Browser) -> None:
    places = "[...document.querySelectorAll('.panel')].map((one) => one.getBoundingClientRect().top)"
    with replay(held=SCENE + 2) as server, visit(browser, server.url) as seen:
        has_drawn(seen, 1)
        before = seen.page.evaluate(places)
        server.go_on.set()
        has_ended(seen)
        assert seen.page.evaluate(places) == before


@pytest.mark.parametrize(("hosts", "flows_by"), [(2, "flow"), (64, "flow"), (1024, "host")])
def test_racks_of_any_size(browser: Browser, hosts: int, flows_by: str) -> None:
    with replay(larger(hosts, flows_by)) as server, visit(browser, server.url) as seen:
        has_ended(seen)
        assert ports_in(seen) == hosts + 1
        box = seen.page.locator("#topology").bounding_box()
        drawn = seen.page.locator("#topology svg").bounding_box()
        assert drawn is not None
        assert box is not None
        assert drawn["x"] >= box["x"]
        assert drawn["x"] + drawn["width"] <= box["x"] + box["width"]
        assert seen.errors == []


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


def tiers(leaves: dict[str, list[str]], spines: list[str]) -> list[dict[str, Any]]:
    """The beginning of a run in this rack; the last host is the receiver."""
    ports = [(leaf, host) for leaf, hosts in leaves.items() for host in hosts]
    last = "-".join(ports[-1])
    ports += [pair for leaf in leaves for spine in spines for pair in ((leaf, spine), (spine, leaf))]
    events = copy.deepcopy(EVENTS[: SCENE + 1])
    events[SCENE]["data"] |= {
        "ports": [
            {"name": f"{a}-{b}", "switch": a, "to": b, "rate": 1e11, "buffer": 5e6} for a, b in ports
        ],
        "flows": [{"name": "h1-h4", "src": "h1", "dst": "h4"}],
        "bottleneck": last,
    }  # fmt: skip
    return events


@pytest.mark.parametrize("leaves", [2, 5, 12, 20])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_switch_has_a_label_that_fits(browser: Browser, size: dict[str, int], leaves: int) -> None:
    names = {f"leaf{i}": [f"h{2 * i - 1}", f"h{2 * i}"] for i in range(1, leaves + 1)}
    fitting = """[...document.querySelectorAll("#topology [data-switch]")].filter((box) => {
      const label = box.nextElementSibling, around = box.getBoundingClientRect();
      const { left, right, top, bottom } = label.getBoundingClientRect();
      const inside = left >= around.left && right <= around.right && top >= around.top && bottom <= around.bottom;
      return label.tagName === "text" && inside && box.dataset.switch.endsWith(label.textContent);
    }).length"""
    events = tiers(names, ["spine1", "spine2"])
    with replay(events, held=SCENE + 1) as server, visit(browser, server.url, size) as seen:
        expect(seen.page.locator("#topology [data-switch]")).to_have_count(leaves + 2)
        assert seen.page.evaluate(fitting) == leaves + 2
        assert f"{2 * leaves} hosts" in seen.text("#about")  # switches are none


def test_leaves_and_spines_stand_in_tiers(browser: Browser) -> None:
    events = tiers({"s1": ["h1", "h2"], "s2": ["h3", "h4"]}, ["s3", "s4"])
    with replay(events, held=SCENE + 1) as server, visit(browser, server.url) as seen:
        expect(seen.page.locator("#topology [data-switch]")).to_have_count(4)
        height = {
            name: float(seen.page.locator("#topology text", has_text=re.compile(f"^{name}$")).get_attribute("y") or 0)
            for name in ("s1", "s2", "s3", "s4", "h1", "h4")
        }
        assert height["s3"] == height["s4"] < height["s1"] == height["s2"] < min(height["h1"], height["h4"])
        assert ports_in(seen) == 12
        assert seen.errors == []


def test_a_run_that_fails_before_it_begins(browser: Browser) -> None:
    told = {"verdict": "failed", "reasons": ["link <b>h1</b>: no rate"], "figures": [], "notes": []}
    told |= {"time": None, "folder": None}
    events = [{"event": "stage", "data": {"text": "building"}}, {"event": "end", "data": told}]
    with replay(events) as server, visit(browser, server.url) as seen:
        expect(seen.page.locator("#verdict")).to_have_text("failed")
        assert seen.text("#reasons") == "link <b>h1</b>: no rate"
        assert seen.text("#clock") == ""
        assert seen.errors == []
