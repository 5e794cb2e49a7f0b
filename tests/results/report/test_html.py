"""report.html: self-contained, valid for plotly, and honest with many flows."""

from __future__ import annotations

import base64
import json
import time
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from testbed.fidelity.verdict import judge
from testbed.results.manifest import Manifest
from testbed.results.record import RunRecord
from testbed.results.report import html
from testbed.results.report.build import compose
from testbed.results.report.plot import MOST_POINTS
from testbed.results.report.plots import plots
from testbed.results.summary import summarise
from tests.support.synthetic_runs import lag, run


class Page(HTMLParser):
    """Elements with their attributes, and the text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.figures: Any = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)
        elif self.open and self.elements[-1][1].get("id") == "figures" and data.strip():
            self.figures = json.loads(data)


def page(record: RunRecord, manifest: Manifest) -> Page:
    return Page(text(record, manifest))


def text(record: RunRecord, manifest: Manifest) -> str:
    summary = summarise(record, judge(record), experiment="incast-2", controller="my_cc")
    return html.render(compose(record, summary, manifest))


def numbers(packed: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed["bdata"]), "<f4")


def test_it_refers_to_nothing_outside(manifest: Manifest) -> None:
    found = page(run(), manifest)
    for tag, attributes in found.elements:
        assert tag not in ("link", "iframe", "img", "base"), attributes
        assert not {"src", "href", "srcset"} & set(attributes), (tag, attributes)
    policy = next(a["content"] for t, a in found.elements if t == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert found.open == []


def test_it_shows_verdict_table_and_manifest(manifest: Manifest) -> None:
    record = run((0.6, 0.4))
    record.pacing_lag = lag(8e-6)
    words = " ".join(page(record, manifest).words)
    for expected in ("degraded", "pacing lag", "66.67 %", "4.00 us", '"sha256"', "</script><b>not markup</b>"):
        assert expected in words


def test_text_in_figures_cannot_end_the_script(manifest: Manifest) -> None:
    record = run(sources=["</script><img src=x>", "h2"])
    found = page(record, manifest)
    assert found.figures[0]["data"][0]["name"] == "</script><img src=x>-h99"


def test_plots_say_what_was_measured() -> None:
    throughput, queue, rtt, fairness, marks, drops, rates = plots(run((0.6, 0.4)))
    assert numbers(throughput.data[0]["y"]) == pytest.approx(0.6 * 95 / 1.1)
    assert numbers(queue.data[1]["y"]) == pytest.approx(50)
    assert [trace["name"] for trace in queue.data] == ["highest sample", "mean", "Kmin", "Kmax"]
    assert numbers(queue.data[3]["y"]) == pytest.approx(400)
    assert numbers(rtt.data[0]["y"]) == pytest.approx([0, 0.5, 0.99, 1.0])
    assert numbers(fairness.data[0]["y"]) == pytest.approx(1 / (2 * (0.6**2 + 0.4**2)))
    assert numbers(marks.data[0]["y"]) == pytest.approx(10)
    arriving = 0.95 * 100e9 / 8 / 1100 + 1e5
    assert numbers(drops.data[0]["y"]) == pytest.approx(100 * 1e5 / arriving)
    assert numbers(rates.data[1]["y"]) == pytest.approx(40)


@pytest.mark.parametrize(("flows", "hosts", "curves"), [(64, 64, 64), (1024, 32, 32), (200, 100, 5)])
def test_many_flows_stay_readable(flows: int, hosts: int, curves: int) -> None:
    record = run([1 / flows] * flows, sources=[f"h{i % hosts}" for i in range(flows)], samples=5000)
    for plot in plots(record):
        assert all(len(numbers(trace["x"])) <= MOST_POINTS for trace in plot.data)
    for plot in (plots(record)[0], plots(record)[-1]):
        assert len(plot.data) == curves
    total = sum(numbers(trace["y"])[-1] for trace in plots(record)[0].data)
    if curves != 5:
        assert total == pytest.approx(95 / 1.1, rel=1e-5)


def test_two_samples_in_quick_succession_make_no_spike() -> None:
    record = run()
    for series in (record.flow_series, record.port_series):
        series.time[100] = series.time[99] + 1e-9  # its counters are those of 50 us later
    throughput, queue, *_ = plots(record)
    assert numbers(throughput.data[0]["y"]).max() < 2 * 0.6 * 95 / 1.1
    assert numbers(queue.data[1]["y"]).max() <= 100  # the highest that there was


def test_what_happened_before_the_first_sample_is_shown() -> None:
    record = run()
    for series in (record.flow_series, record.port_series):
        for name, values in vars(series).items():
            setattr(series, name, values[10:])
    marks, drops = plots(record)[4:6]
    assert numbers(marks.data[0]["y"])[0] == pytest.approx(10)
    assert numbers(drops.data[0]["x"])[0] == pytest.approx(0.25)  # between 0 and 0.5 ms
    assert drops.note.endswith("1,000 in the whole run")


def test_a_window_based_controller_shows_its_window() -> None:
    record = run()
    record.flow_series.rate[:] = np.inf
    record.flow_series.window[:] = 12_500
    rates = plots(record)[-1]
    assert rates.title.startswith("Window")
    assert numbers(rates.data[0]["y"]) == pytest.approx(12.5)


@pytest.mark.parametrize(
    "record", [run(samples=1), run([]), run([0, 0])], ids=["one sample", "no flow", "nothing sent"]
)
def test_runs_with_little_in_them_have_a_report(record: RunRecord, manifest: Manifest) -> None:
    assert len(page(record, manifest).figures) == 7


def test_plotly_knows_every_attribute() -> None:
    figure = pytest.importorskip("plotly.graph_objects").Figure

    def coloured(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: coloured(item) for key, item in value.items()}
        if isinstance(value, list):
            return [coloured(item) for item in value]
        return "#000000" if isinstance(value, str) and value.startswith("@") else value

    for record in (run(), run([1 / 100] * 100)):
        for plot in plots(record):
            figure(data=coloured(plot.data), layout=coloured(plot.layout))  # raises on what it does not know


def test_it_is_quick(manifest: Manifest) -> None:
    record = run([1 / 64] * 64, samples=4000)
    before = time.process_time()
    assert len(text(record, manifest)) < 8e6
    assert time.process_time() - before < 2
