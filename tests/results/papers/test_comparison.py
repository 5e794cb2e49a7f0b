"""A comparison file that cannot be right is refused in one line that names the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.results.papers.comparison import load
from tests.support.comparisons import MINE


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("two: [90, 5]", "two: [90]", r"rows\.A\.printed\.two: expected 2 numbers \(su, ql\), got 1"),
        ("most: PL", "most: LP", r"rows\.A\.printed\.most: 'LP' is not there; allowed: PL"),
        ("eight: [80, 12]", "nine: [80, 12]", r"rows\.B\.printed: 'nine' is not there; .*allowed: best, eight, most"),
        ("field: su,", "field: sue,", r"metrics\.su\.field: no such figure; did you mean 'su'"),
        ("per: bottleneck_rate", "per: rate", r"metrics\.share\.per: no such figure"),
        ("relative_to: A", "relative_to: D", r"metrics\.gain\.relative_to: 'D' is not there"),
        ("best_of: [two, eight]", "best_of: [two, nine]", r"columns\.best\.best_of: 'nine' is not there"),
        ("best_of: [two, eight]", "best_of: [two, best]", r"columns\.best\.best_of: 'best' sums up others itself"),
        ("best_of: [two,", "experiment: incast-8, best_of: [two,", r"columns\.best\.best_of: a column has"),
        ("quick: {columns: [two]", "quick: {columns: [one]", r"quick\.columns: 'one' is not there"),
        ("order: ql", "order: qll", r"judged\.order: 'qll' is not there; did you mean 'ql'"),
        ("better: higher}", "beter: higher}", r"metrics\.su\.beter: no such key; did you mean 'better'"),
        ("within: 5, of: points", "within: 5, of: point", r"equal\.of: 'point' is not allowed; did you mean 'points'"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(tmp_path: Path, was: str, now: str, said: str) -> None:
    text = MINE.read_text()
    assert was in text
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace(was, now, 1))
    with pytest.raises(BadInput, match=said) as caught:
        load(str(file))
    assert "mine.yaml, line " in str(caught.value)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(BadInput, match="no comparison is named 'adpg-table2'; did you mean 'adpg-table-2'"):
        load("adpg-table2")
