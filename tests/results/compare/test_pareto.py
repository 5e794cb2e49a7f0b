"""ADPG's Definition 1 on the paper's own tables, worked out by hand, and at its edges."""

from __future__ import annotations

import math

import pytest

from testbed.results.compare.pareto import dominated_by, dominates


def result(su: float, fr: float, ql: float) -> dict[str, float]:
    """In the paper's units: %, %, us."""
    return {"su": su, "fr_flows": fr, "ql_mean": ql * 1e-6}


def who(table: dict[str, tuple[float, float, float]]) -> dict[str, set[str]]:
    names = list(table)
    found = dominated_by([result(*figures) for figures in table.values()])
    return {name: {names[index] for index in by} for name, by in zip(names, found, strict=True)}


def test_table_2_128_to_1() -> None:
    table = {
        "PPO": (1, 26, 3),
        "REINFORCE": (51, 100, 3),
        "DCQCN": (100, 56, 11),
        "HPCC": (83, 96, 5),
        "SWIFT": (97, 94, 26),
        "ADPG": (92, 95, 8),
    }
    assert who(table) == {
        "PPO": {"REINFORCE", "HPCC", "ADPG"},  # DCQCN waits 8 us longer, that is more than 5
        "REINFORCE": {"HPCC", "ADPG"},  # ADPG: SU 41 better; FR 5 and QL 5 worse, which is equal
        "DCQCN": set(),  # ADPG has 8 less SU
        "HPCC": {"ADPG"},  # SU 9 better, FR 1 worse, QL 3 worse
        "SWIFT": {"ADPG"},  # QL 18 better, SU 5 worse
        "ADPG": set(),
    }


def test_table_3_4_hosts() -> None:
    table = {"DCQCN": (89, 93, 4), "HPCC": (71, 18, 3), "SWIFT": (93, 100, 10), "ADPG": (94, 77, 6)}
    assert who(table) == {
        "DCQCN": set(),  # SWIFT: FR 7 better, but QL 6 worse
        "HPCC": {"DCQCN", "ADPG"},  # SWIFT: QL 7 worse
        "SWIFT": set(),
        "ADPG": {"DCQCN", "SWIFT"},  # SU 5 and 1 worse is equal, FR 16 and 23 better
    }


@pytest.mark.parametrize(
    ("other", "dominated"),
    [
        ((85, 90, 10), False),  # exactly 5: equal
        ((84.9, 90, 10), True),
        ((90, 84.9, 10), True),
        ((90, 90, 15), False),
        ((90, 90, 15.1), True),
        ((80, 95, 10), True),  # worse by exactly 5 in FR is no obstacle
        ((80, 95.1, 10), False),
        ((80, 90, 4.9), False),  # a wait shorter by more than 5
        ((100, 100, 1), False),
    ],
)
def test_edges(other: tuple[float, float, float], dominated: bool) -> None:
    assert dominates(result(90, 90, 10), result(*other)) is dominated


def test_differences_of_five_do_not_depend_on_rounding() -> None:
    for tenths in range(0, 2000, 7):
        low, high = result(90, 90, tenths / 10), result(90, 90, tenths / 10 + 5)
        assert not dominates(low, high)


def test_about_equal_is_not_transitive_so_a_ring_is_dominated_as_a_whole() -> None:
    # each is 6 better in one metric than the next one, and 3 worse in the others
    ring = {"A": (96, 93, 13), "B": (90, 96, 10), "C": (93, 90, 7)}
    assert who(ring) == {"A": {"C"}, "B": {"A"}, "C": {"B"}}


def test_unknown_is_not_compared() -> None:
    good, unknown = result(99, 99, 1), result(1, math.nan, 99)
    assert not dominates(good, unknown)
    assert not dominates(unknown, good)
