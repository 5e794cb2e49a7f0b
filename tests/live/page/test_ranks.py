"""Jobs: their table, and the timeline of their ranks."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, expect

from tests.live.page.seen import has_ended
from tests.support.browsing import Visit, visit
from tests.support.replayed import UPDATES, of_two_jobs, replay


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
