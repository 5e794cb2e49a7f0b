"""The plots for print: valid SVG with the curves in it, the same every time."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.text import Annotation

from testbed.errors import BadInput
from testbed.results.report import vector
from testbed.results.report.plot import Axis, Line, Panel, Plot
from testbed.results.report.plots import plots
from testbed.results.report.timeline import timelines
from testbed.results.report.topology import draw, links_of
from tests.support.synthetic_decisions import halved_by_a_cnp, recorded
from tests.support.synthetic_runs import run

SVG = "{http://www.w3.org/2000/svg}"


def paths(text: str, colour: str) -> list[list[tuple[float, float]]]:
    """The points of each path of this colour."""
    found = []
    for path in ElementTree.fromstring(text).iter(f"{SVG}path"):
        if f"stroke: {vector.theme()[colour]}" in path.get("style", ""):
            points = re.findall(r"[ML] ([-\d.]+) ([-\d.]+)", path.get("d", ""))
            found.append([(float(x), float(y)) for x, y in points])
    return found


def test_the_curve_is_where_its_numbers_are() -> None:
    x = np.linspace(0, 10, 6)
    text = vector.svg(Plot("Test", "a curve", [Panel([Line(x, np.array([0, 1, 0, 4, 0, 2.0]), "y", "c6")])]))
    (points,) = [one for one in paths(text, "c6") if len(one) == 6]
    at, height = np.array(points).T
    assert np.diff(at) == pytest.approx(np.diff(at)[0], rel=1e-3)
    assert (height[0] - height) / (height[0] - height[3]) == pytest.approx([0, 0.25, 0, 1, 0, 0.5], abs=1e-3)


def test_without_matplotlib_none_is_drawn(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert vector.svgs(plots(run([0.5, 0.5]))) == {}
    assert 'pip install "cc-testbed[plots]"' in caplog.text
    with pytest.raises(BadInput, match=r"matplotlib is not installed; run: pip install"):
        vector.figure(plots(run([0.5, 0.5]))[0])


@pytest.mark.parametrize("flows", [2, 64, 100])
def test_every_plot_can_be_printed(flows: int) -> None:
    for plot in plots(run([1 / flows] * flows)):
        root = ElementTree.fromstring(vector.svg(plot))
        words = [text.text for text in root.iter(f"{SVG}text")]  # as text, not as outlines
        assert plot.title in words
        assert plot.note in words


def test_thresholds_and_names_are_in_it() -> None:
    text = vector.svg(plots(run())[1])
    for name in ("highest sample", "mean", "Kmin", "Kmax"):
        assert f">{name}<" in text


def test_the_timeline_of_a_flow_has_its_panels() -> None:
    plot = timelines(run((1.0,)), [recorded(halved_by_a_cnp())])[0].plot
    text = vector.svg(plot)
    for word in ("rate, Gbit/s", "RTT, us", "CNP", "loss", "timeout"):
        assert f">{word}<" in text


def test_it_is_the_same_every_time() -> None:
    first, second = (vector.svg(plots(run())[0]) for _ in range(2))
    assert first == second
    assert "<dc:date>" not in first


def test_names_are_only_names() -> None:
    curves = [Line(np.arange(2.0), np.arange(2.0), name, "c0") for name in ("$x_1$ <&>", "y")]
    text = vector.svg(Plot("$\\frac$ <b>", "100 % of $", [Panel(curves)]))
    words = [one.text for one in ElementTree.fromstring(text).iter(f"{SVG}text")]
    assert {"$\\frac$ <b>", "100 % of $", "$x_1$ <&>"} <= set(words)


def test_an_empty_plot_can_be_printed() -> None:
    for plot in plots(run([], samples=1)):
        ElementTree.fromstring(vector.svg(plot))


def test_a_wide_axis_has_plain_numbers() -> None:
    curve = Line(np.array([1.0, 100, 10_000]), np.array([1.0, 2, 3]), "y", "c0")
    text = vector.svg(Plot("Test", "", [Panel([curve])], Axis("kB", log=True)))
    words = {one.text for one in ElementTree.fromstring(text).iter(f"{SVG}text")}
    assert {"1", "100", "10000"} <= words
    ((start, _), (middle, _), (end, _)) = paths(text, "c0")[0]
    assert middle - start == pytest.approx(end - middle, rel=1e-3)


def test_the_topology_stands_alone() -> None:
    text = vector.standalone(draw(links_of(run()), "s1-eth2"))
    assert "var(" not in text
    assert vector.theme()["u5"] in text
    ElementTree.fromstring(text)


def test_names_beside_points_lie_on_no_other_name_and_on_no_point() -> None:
    places = {"first, of many letters": 1.0, "second": 1.2, "third": 1.4, "far": 9.0}
    near = [Line(np.array([x]), np.array([1.0]), name, "c0", width=0, label=name) for name, x in places.items()]
    axes = vector.figure(Plot("Test", "", [Panel(near)], Axis(low=0, high=10))).axes[0]
    names = [text for text in axes.texts if isinstance(text, Annotation)]
    offsets = {text.get_text(): text.xyann[1] for text in names}
    assert offsets["third"] == offsets["far"] == -2.5  # nothing is in their way
    lower = sorted(offsets[name] for name in ("first, of many letters", "second"))
    assert lower[1] <= -2.5 - vector.NAME
    assert lower[1] - lower[0] >= vector.NAME
