"""report.html in a real browser: it draws, and a reader finds out why the rate changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.synthetic_decisions import ACK, BEGIN, CNP, halved_by_a_cnp, recorded, row
from tests.support.synthetic_runs import run

pytest.importorskip("playwright")

from playwright.sync_api import Browser

from testbed.fidelity.verdict import judge
from testbed.results.manifest import Manifest
from testbed.results.report import html
from testbed.results.report.build import compose
from testbed.results.summary import summarise
from tests.support.browsing import PHONE, chromium, visit


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


@pytest.fixture
def page(tmp_path: Path, manifest: Manifest) -> str:
    """Two flows: the first one is halved by a CNP, the other one at another time."""
    record = run((0.6, 0.4))
    other = [row(0, 1, 100, BEGIN), row(1e-3, 1, 100, ACK), row(7e-3, 1, 40, CNP)]
    agent = recorded([*halved_by_a_cnp(), *other], flows=2)
    report = compose(
        record, summarise(record, judge(record), experiment="incast-2", controller="my_cc"), manifest, [agent]
    )
    file = tmp_path / "report.html"
    file.write_text(html.render(report))
    return f"file://{file}"


@pytest.fixture
def crowd(tmp_path: Path, manifest: Manifest) -> str:
    """32 flows, the first of them twice as fast as the others."""
    record = run([2 / 33, *[1 / 33] * 31])
    summary = summarise(record, judge(record), experiment="incast-32", controller="my_cc")
    file = tmp_path / "crowd.html"
    file.write_text(html.render(compose(record, summary, manifest)))
    return f"file://{file}"


SHOWN = "charts[0].lines().map((line) => [line.name, line.colour])"


def test_single_flows_of_many_are_shown_on_demand_and_nothing_covers_anything(browser: Browser, crowd: str) -> None:
    with visit(browser, crowd) as seen:
        look = seen.page
        look.wait_for_selector("#plot6 .uplot")
        bands = [["5 to 95 %", "band1"], ["quartiles", "band2"], ["median", "accent"]]
        assert look.evaluate(SHOWN) == bands
        highest = "charts[0].panels[0].scales.y.max"
        before = look.evaluate(highest)
        for name in ("h1-h99", "h7-h99"):
            look.locator("#plot0 select").select_option(name)
        assert look.evaluate(SHOWN) == [*bands, ["h1-h99", "c1"], ["h7-h99", "c2"]]
        assert look.evaluate(highest) > 1.5 * before  # the fast flow is above the bands
        look.locator("#plot0 .names button", has_text="h1-h99").click()
        assert look.evaluate(SHOWN) == [*bands, ["h7-h99", "c2"]]

        # A drag upwards zooms into the height, a double click out of it.
        area = look.locator("#plot0 .u-over").bounding_box()
        assert area is not None
        x, y = area["x"] + 0.5 * area["width"], area["y"]
        look.mouse.move(x, y + 0.25 * area["height"])
        look.mouse.down()
        look.mouse.move(x + 5, y + 0.75 * area["height"], steps=4)
        look.mouse.up()
        axis = "[charts[0].panels[0].scales.y.min, charts[0].panels[0].scales.y.max, ...charts[0].x]"
        top = look.evaluate("charts[0].reach(charts[0].figure.panels[0])[1]")
        assert look.evaluate(axis) == pytest.approx([0.25 * top, 0.75 * top, 0, 10], rel=0.03)
        look.mouse.dblclick(x, y + 20)
        assert look.evaluate(axis) == pytest.approx([0, top, 0, 10], rel=0.03)
        assert seen.errors == []
    covered = """[...document.querySelectorAll('.plot')].filter((plot) => {
        const names = plot.querySelector('.names')?.getBoundingClientRect();
        const panel = plot.querySelector('.panel').getBoundingClientRect();
        return names && (names.bottom > panel.top + 1 || names.right > plot.getBoundingClientRect().right + 1);
    }).length"""
    for size in (None, PHONE):
        with visit(browser, crowd, size) as seen:
            seen.page.wait_for_selector("#plot6 .uplot")
            assert seen.page.evaluate(covered) == 0
            assert seen.overflow() == 0


@pytest.mark.slow
def test_a_reader_finds_out_why_the_rate_changed(browser: Browser, page: str) -> None:
    with visit(browser, page) as seen:
        look = seen.page
        look.wait_for_selector("#timeline-plot .uplot")
        assert look.locator(".plot .uplot").count() == 7 + 2  # the timeline has two panels
        assert look.locator(".changes li").count() == 4
        look.locator(".changes button", has_text="rate 100 → 50 Gbit/s").click()
        current = look.locator("#decisions tbody tr[aria-current=true]")
        assert current.inner_text().split("\t") == [
            "1.2345", "1 CNP; RTT 12.3 us", "rate 100 → 50 Gbit/s", "\u221250 %"
        ]  # fmt: skip
        before = look.locator("#decisions tbody tr", has=look.locator("td", has_text="1.0000"))
        assert "1 ACK; RTT 12.3 us" in before.first.inner_text()
        look.locator("button.later").click()
        assert "nothing changed" in current.inner_text()

        look.locator(".flows button", has_text="h2-h99").click()
        assert look.locator("#timeline-title").inner_text() == "Decisions for h2-h99"
        assert look.locator(".changes li").count() == 1
        assert "rate 100 → 40 Gbit/s" in current.inner_text()
        # A click into the plot, left of the middle: the acknowledgement at 1 ms.
        area = look.locator("#timeline-plot .u-over").first.bounding_box()
        assert area is not None
        look.mouse.move(area["x"] + 0.1 * area["width"], area["y"] + 5)
        look.mouse.click(area["x"] + 0.1 * area["width"], area["y"] + area["height"] * 0.02)
        look.wait_for_function("document.querySelector('.steps output').textContent === '1.0000 ms'")

        # Zooming into one plot zooms into all that have a time axis.
        look.locator("#plot0").scroll_into_view_if_needed()
        area = look.locator("#plot0 .u-over").bounding_box()
        assert area is not None
        look.mouse.move(area["x"] + 0.2 * area["width"], area["y"] + 20)
        look.mouse.down()
        look.mouse.move(area["x"] + 0.3 * area["width"], area["y"] + 20, steps=3)
        look.mouse.up()
        shown = "charts.map((chart) => chart.panels.map((panel) => [panel.scales.x.min, panel.scales.x.max])).flat()"
        ranges = look.evaluate(shown)
        assert ranges[0] == pytest.approx([2, 3], abs=0.05)
        assert ranges[1] == ranges[-1] == ranges[-2] == ranges[0]  # the queue, and the timeline's panels
        assert ranges[2] != ranges[0]  # the RTT's axis is no time
        look.mouse.dblclick(area["x"] + 5, area["y"] + 20)
        assert look.evaluate(shown)[1] == [0, 10]

        # The pointer names what it is at, and a name in the legend hides its curve.
        look.mouse.move(area["x"] + 0.5 * area["width"], area["y"] + 0.06 * area["height"])
        assert look.locator(".tip").inner_text().startswith("h1-h99: 51.82 at")
        look.locator("#plot0 .names button", has_text="h1-h99").click()
        assert look.locator("#plot0 .names button[aria-pressed=false]").count() == 1
        assert look.evaluate("charts[0].panels[0].series.length") == 2  # x and the other one
        assert seen.barriers() == []
        assert seen.errors == []
    for size, dark in ((PHONE, True), (None, True)):
        with visit(browser, page, size, dark) as seen:
            assert seen.overflow() == 0
            colour = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert colour == "rgb(20, 23, 29)"
            assert seen.barriers() == []
            assert seen.errors == []


def test_on_paper_it_is_light_and_complete(browser: Browser, page: str) -> None:
    with visit(browser, page, dark=True) as seen:
        seen.page.wait_for_selector("#timeline-plot .uplot")
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        seen.page.emulate_media(media="print")
        assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert seen.page.evaluate("charts[0].panels[0].axes[0].stroke()") == "#1d2330"
        widths = seen.page.evaluate(
            "[...document.querySelectorAll('.plot canvas')].map((e) => e.getBoundingClientRect().width)"
        )
        finer = "document.querySelector('.plot canvas').width / document.querySelector('.plot').clientWidth"
        assert seen.page.evaluate(finer) == pytest.approx(3, abs=0.01)
        assert max(widths) <= 703  # A4 between margins of 12 mm, in CSS pixels
        assert seen.page.locator("details[open]").count() == 1
        assert len(seen.page.pdf()) > 50_000
        assert seen.errors == []
        assert not seen.runs_what_is_written_into_it()
