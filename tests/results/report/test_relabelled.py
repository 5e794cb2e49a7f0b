"""A plot in other words than the report's."""

from __future__ import annotations

import numpy as np
import pytest

from testbed.errors import BadInput
from testbed.results.report import vector
from testbed.results.report.plot import Line, Panel, Plot
from testbed.results.report.relabelled import relabelled

X = np.array([0.0, 1.0])
QUEUE = Plot("Queue", "kB", [Panel([Line(X, X, "mean", "accent"), Line(X, X, "Kmin", "limit")])], name="queue")


def test_titles_axes_and_curves_have_the_words_that_were_asked_for() -> None:
    drawn = vector.svg(relabelled(QUEUE, "Mine", {"x": "time (ms)", "y": "queue (kB)", "mean": "DCQCN"}))
    for word in ("Mine", "kB", "time (ms)", "queue (kB)", "DCQCN", "Kmin"):
        assert f">{word}<" in drawn
    assert ">mean<" not in drawn


def test_without_a_title_there_is_no_note_and_the_panel_takes_the_room() -> None:
    bare = relabelled(QUEUE, "", {})
    assert (bare.title, bare.note, bare.slug) == ("", "", "queue")
    tall, full = (vector.figure(one).axes[0].get_position().height for one in (bare, QUEUE))
    assert tall > full


def test_a_word_for_what_is_not_there_is_refused() -> None:
    with pytest.raises(BadInput, match="queue has no 'maen'; did you mean 'mean'"):
        relabelled(QUEUE, None, {"maen": "DCQCN"})


@pytest.mark.parametrize("size", [(1.5, 1.5), (3.4, 2.0), (20.0, 3.0)])
def test_any_size_can_be_drawn(size: tuple[float, float]) -> None:
    figure = vector.figure(QUEUE, size)
    assert tuple(figure.get_size_inches()) == size
    figure.savefig("/dev/null", format="svg")
