"""The shipped comparisons: they load, they can run, and they hold what the papers print."""

from __future__ import annotations

import pytest

from testbed.published.cells import places
from testbed.published.comparison import load, names

QUICK_SECONDS = 600  # wall: what --quick promises

# Copied by hand from the papers' text, not from the files.
PRINTED = {
    "adpg-table-2": {
        ("PPO", "128"): [1, 26, 3],
        ("REINFORCE", "128"): [51, 100, 3], ("REINFORCE", "1024"): [74, 70, 7], ("REINFORCE", "4096"): [53, 45, 22],
        ("DCQCN", "128"): [100, 56, 11], ("DCQCN", "1024"): [100, 50, 13],
        ("DCQCN", "4096"): [95, 65, 12], ("DCQCN", "8192"): [95, 64, 12],
        ("HPCC", "128"): [83, 96, 5], ("HPCC", "1024"): [59, 48, 27],
        ("SWIFT", "128"): [97, 94, 26], ("SWIFT", "1024"): [89, 96, 27], ("SWIFT", "4096"): [88, 85, 77],
        ("ADPG", "128"): [92, 95, 8], ("ADPG", "1024"): [90, 70, 15],
        ("ADPG", "4096"): [91, 44, 26], ("ADPG", "8192"): [92, 29, 42],
    },
    "adpg-table-3": {
        ("DCQCN", "4"): [89, 93, 4], ("DCQCN", "8"): [87, 66, 5],
        ("HPCC", "4"): [71, 18, 3], ("HPCC", "8"): [69, 60, 3],
        ("SWIFT", "4"): [93, 100, 10], ("SWIFT", "8"): [92, 100, 11],
        ("ADPG", "4"): [94, 77, 6], ("ADPG", "8"): [94, 97, 8],
    },
    "adpg-table-6": {
        ("original", "2"): [96.9, 99, 5.2], ("int8", "2"): [99.91, 100, 8.29],
        ("original", "32"): [95.6, 86, 7.0], ("int8", "64"): [99.06, 98, 9.72],
        ("original", "1024"): [90.2, 74, 14.7], ("int8", "2048"): [96.74, 61, 27.67],
        ("original", "8192"): [92.8, 28, 40.0], ("int8", "8192"): [96.79, 29, 48.40],
    },
}  # fmt: skip
LOST = {
    "adpg-table-2": {
        *(("Aurora", column) for column in ("128", "1024", "4096", "8192")),
        *(("PPO", column) for column in ("1024", "4096", "8192")),
        ("REINFORCE", "8192"), ("HPCC", "4096"), ("HPCC", "8192"), ("SWIFT", "8192"),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", names())
def test_a_file_holds_what_the_paper_prints(name: str) -> None:
    comparison = load(name)
    for (row, column), numbers in PRINTED[name].items():
        assert comparison.rows[row].printed[column] == numbers, (row, column)
    lost = {(row, column) for row, of in comparison.rows.items() for column, cell in of.printed.items() if cell == "PL"}
    assert lost == LOST.get(name, set())


@pytest.mark.parametrize("name", names())
def test_all_of_its_runs_could_run_and_the_quick_part_is_quick(name: str) -> None:
    comparison = load(name)
    every, quick = places(comparison), places(comparison, quick=True)
    named = [place.cell.name for place in every]
    assert len(set(named)) == len(named)
    assert {(place.row, place.column) for place in quick} <= {(place.row, place.column) for place in every}
    assert sum(place.cell.seconds or 0 for place in quick) <= 0.9 * QUICK_SECONDS
