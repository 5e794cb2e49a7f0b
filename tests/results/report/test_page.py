"""report.html in a real browser: it draws, and a reader finds out why the rate changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.synthetic_decisions import ACK, BEGIN, CNP, halved_by_a_cnp, recorded, row
from tests.support.synthetic_runs import run

pytest.importorskip("playwright")

from testbed.fidelity.verdict import judge
from testbed.results.manifest import Manifest
from testbed.results.report import html
from testbed.results.report.build import compose
from testbed.results.summary import summarise
from tests.support.browsing import PHONE, chromium, visit


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


@pytest.mark.slow
def test_a_reader_finds_out_why_the_rate_changed(page: str) -> None:
    with chromium() as browser:
        with visit(browser, page) as seen:
            look = seen.page
            assert look.locator(".js-plotly-plot").count() == 8
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
            area = look.locator("#timeline-plot .nsewdrag").first.bounding_box()
            assert area is not None
            look.mouse.move(area["x"] + 0.1 * area["width"], area["y"] + 5)
            look.mouse.click(area["x"] + 0.1 * area["width"], area["y"] + area["height"] * 0.02)
            look.wait_for_function("document.querySelector('.steps output').textContent === '1.0000 ms'")

            # Zooming into one plot zooms into all that have a time axis.
            look.evaluate("Plotly.relayout('plot0', {'xaxis.range': [2, 3]})")
            look.wait_for_function("document.getElementById('timeline-plot').layout.xaxis.range[1] === 3")
            ranges = look.evaluate("[1, 2].map((i) => document.getElementById('plot' + i).layout.xaxis.range[1])")
            assert ranges[0] == 3  # the queue
            assert ranges[1] != 3  # the RTT's axis is no time
            assert seen.errors == []
        for size, dark in ((PHONE, True), (None, True)):
            with visit(browser, page, size, dark) as seen:
                assert seen.overflow() == 0
                colour = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
                assert colour == "rgb(20, 23, 29)"
                assert seen.errors == []


def test_on_paper_it_is_light_and_complete(page: str) -> None:
    with chromium() as browser, visit(browser, page, dark=True) as seen:
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        seen.page.emulate_media(media="print")
        assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        text = "getComputedStyle(document.querySelector('#plot0 .xtick text')).fill"
        assert seen.page.evaluate(text) == "rgb(29, 35, 48)"
        widths = seen.page.evaluate(
            "[...document.querySelectorAll('.js-plotly-plot .main-svg')].map((e) => e.clientWidth)"
        )
        assert max(widths) <= 703  # A4 between margins of 12 mm, in CSS pixels
        assert seen.page.locator("details[open]").count() == 1
        assert len(seen.page.pdf()) > 50_000
        assert seen.errors == []
