"""report.html: self-contained, and honest whatever it is of."""

from __future__ import annotations

import time
from html.parser import HTMLParser
from typing import Any

import pytest

from testbed.fidelity.verdict import judge
from testbed.results.manifest import Manifest
from testbed.results.record import RunRecord
from testbed.results.report import html
from testbed.results.report.build import compose
from testbed.results.summary import summarise
from tests.support.folders import unpacked
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
        elif self.open and self.elements[-1][1].get("id") == "figures":
            self.figures = unpacked(data)


def page(record: RunRecord, manifest: Manifest) -> Page:
    return Page(text(record, manifest))


def text(record: RunRecord, manifest: Manifest) -> str:
    summary = summarise(record, judge(record), experiment="incast-2", controller="my_cc")
    return html.render(compose(record, summary, manifest))


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
    record.late.pacing_lag = lag(8e-6)
    words = " ".join(page(record, manifest).words)
    for expected in ("degraded", "pacing lag", "66.67 %", "4.00 us", '"sha256"', "</script><b>not markup</b>"):
        assert expected in words


def test_text_in_figures_cannot_end_the_script(manifest: Manifest) -> None:
    record = run(sources=["</script><img src=x>", "h2"])
    found = page(record, manifest)
    assert "img" not in [tag for tag, _ in found.elements]
    assert found.figures[0]["panels"][0]["lines"][0]["name"] == "</script><img src=x>-h99"


@pytest.mark.parametrize(
    ("record", "plots"),
    [(run(samples=1), 7), (run([]), 3), (run([0, 0]), 7)],
    ids=["one sample", "no flow", "nothing sent"],
)
def test_runs_with_little_in_them_have_a_report(record: RunRecord, plots: int, manifest: Manifest) -> None:
    assert len(page(record, manifest).figures) == plots


def test_it_is_quick(manifest: Manifest) -> None:
    record = run([1 / 64] * 64, samples=4000)
    before = time.process_time()
    assert len(text(record, manifest)) < 1e6
    assert time.process_time() - before < 2
