"""The page of `testbed compare`."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.comparing import Command
from tests.support.folders import results, unpacked

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    pytest.importorskip("playwright")
    from tests.support.browsing import chromium

    with chromium() as one:
        yield one


def test_page_is_one_file_without_addresses(compare: Command, three: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = compare(three, "--out", out, "--fail-if", "su < 0.9*baseline")
    assert done.code == 1  # the page is there all the same
    text = (out / "comparison.html").read_text()
    assert "default-src 'none'" in text
    assert 'src="http' not in text
    assert "su is 79.00 %" in text
    plots = unpacked(text.partition('id="figures">')[2].partition("</script>")[0])
    titles = [plot["title"] for plot in plots]
    assert titles == ["Goodput against queue", "Queue latency", "Goodput", "Fairness", "RTT"]
    queue = plots[titles.index("Queue latency")]["panels"][0]["lines"]
    assert [line["name"] for line in queue].count("dcqcn") == 1
    assert len(queue) == 6
    assert len({line["colour"] for line in queue}) == 2
    drawn = {file.stem for file in (out / "plots").glob("*.svg")}
    assert {one for one in drawn if not one.startswith("dots-")} == {plot["name"] for plot in plots}
    assert {"dots-su", "dots-ql_p99", "dots-loss"} <= drawn
    assert json.loads((out / "comparison.json").read_text())["gates"][0]["failures"]
    again = compare(three, "--out", out)
    assert again.code == 2
    assert "not empty" in again.said


def test_page_names_the_experiment_and_colours_better_and_worse(compare: Command, three: Path, tmp_path: Path) -> None:
    compare(three, "--out", tmp_path / "out")
    text = (tmp_path / "out" / "comparison.html").read_text()
    assert "<h1>incast-8: dcqcn; swift compared</h1>" in text
    rows = dict(re.findall(r'<tr><th scope="row">([^<]*)</th>(.*?)</tr>', text))
    assert re.findall(r"<td class='(\w+)'>", rows["SU, %"]) == ["worse"]
    assert re.findall(r"<td class='(\w+)'>", rows["QL mean, us"]) == ["better"]  # though it is 11 us less
    assert "class" not in rows["FR per flow, %"]


def test_one_dot_plot_has_all_variants_runs_and_intervals(compare: Command, three: Path, tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        results(
            three / f"c{seed}", "hpcc", seed, su=85 + seed, fr_flows=95, ql_mean=1e-6, drops=0, loss=0.2 + seed / 50
        )
    compare(three, "--out", tmp_path / "out")
    page = (tmp_path / "out" / "comparison.html").read_text()
    (su,) = re.findall(r"<svg[^>]*SU of dcqcn, swift, hpcc.*?</svg>", page)
    assert su.count("<circle") == 3 * (3 + 1)  # runs and medians
    assert su.count('stroke-width="4"') == 3  # intervals
    assert "hpcc, seed 2: 87.00 %" in su
    (loss,) = re.findall(r"<svg[^>]*loss in run of sent of.*?</svg>", page)
    ticks = re.findall(r'text-anchor="middle"[^>]*>([^<]*)<', loss)
    assert ticks[0] == "0"
    first_line, first_dot = (float(re.search(found, loss)[1]) for found in (r'<line x1="([\d.]+)"', r'cx="([\d.]+)"'))
    assert first_line < first_dot  # the synthetic runs' loss


def test_an_axis_of_less_is_better_starts_at_0_over_scenarios_too(compare: Command, tmp_path: Path) -> None:
    for senders, loss in ((8, 0.5), (64, 0.6)):
        results(tmp_path / f"in/{senders}", "dcqcn", 1, f"traffic.senders={senders}", su=90, loss=loss)
    compare(tmp_path / "in", "--out", tmp_path / "out")
    text = (tmp_path / "out" / "comparison.html").read_text()
    plots = {plot["name"]: plot for plot in unpacked(text.partition('id="figures">')[2].partition("</script>")[0])}
    assert plots["loss-over-traffic.senders"]["panels"][0]["y"]["from_zero"]
    assert not plots["su-over-traffic.senders"]["panels"][0]["y"]["from_zero"]


@pytest.mark.slow
def test_page_in_a_browser(browser: Browser, compare: Command, three: Path, tmp_path: Path) -> None:
    from tests.support.browsing import PHONE, visit

    compare(three, "--out", tmp_path / "out")
    for size, dark in ((None, False), (PHONE, True)):
        with visit(browser, f"file://{tmp_path}/out/comparison.html", size, dark) as seen:
            seen.page.wait_for_selector("#plot4 .uplot")
            for scheme in ("dark", "light") if dark else ("light", "dark"):
                seen.page.emulate_media(color_scheme=scheme)
                assert seen.overflow() == 0
                colours = seen.page.evaluate(
                    "['better', 'worse'].map((one) => getComputedStyle(document.querySelector('td.' + one)).color)"
                )
                assert colours[0] != colours[1]
                assert seen.barriers() == []
            assert seen.errors == []
            assert not seen.runs_what_is_written_into_it()


@pytest.mark.slow
def test_numbers_at_axes_differ_and_names_beside_points_do_not_lie_on_one_another(
    browser: Browser, compare: Command, tmp_path: Path
) -> None:
    from tests.support.browsing import visit

    for number, controller in enumerate(("dcqcn", "swift", "hpcc")):
        for senders in (4, 8, 64):
            figures = {"su": 99.99999 + 1e-6 * number, "ql_mean": 1e-6 * senders * 30**number, "ql_p99": 2e-6}
            results(tmp_path / f"in/{controller}{senders}", controller, 1, f"traffic.senders={senders}", **figures)
    compare(tmp_path / "in", "--out", tmp_path / "out")
    with visit(browser, f"file://{tmp_path}/out/comparison.html") as seen:
        seen.page.add_init_script("""
            const written = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
                (this.canvas.said ??= []).push([text, x, y]);
                return written.call(this, text, x, y);
            };
        """)
        seen.page.reload()
        seen.page.wait_for_selector("#plot2 .uplot")
        axes = seen.page.evaluate("charts.flatMap((one) => one.panels.flatMap((u) => u.axes.map((a) => a._values)))")
        assert [texts for texts in axes if texts and len({*texts}) < len(texts)] == []
        said = seen.page.evaluate("document.querySelector('#plot0 canvas').said")
        names = {text: y for text, _, y in said if text in {"dcqcn", "swift", "hpcc"}}
        assert len(names) == 3
        places = sorted(names.values())
        assert all(below - above >= 14 for above, below in itertools.pairwise(places))
        assert seen.errors == []
