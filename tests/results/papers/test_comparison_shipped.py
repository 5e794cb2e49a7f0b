"""The shipped comparisons: they load, they can run, and they hold what the papers print."""

from __future__ import annotations

import math

import pytest

from testbed.results.papers.comparison import load, names
from testbed.runs.reproduce.cells import table_cells

QUICK_SECONDS = 600  # wall: what --quick promises


def sawtooth(flows: int, k: int) -> list[float]:
    """DCTCP's equations 8 and 10, in packets of 1500 B at 10 Gbit/s and 100 us: longest, amplitude, mean; SU, Jain."""
    amplitude = 0.5 * math.sqrt(2 * flows * (10e9 * 100e-6 / 12e3 + k))
    return [k + flows, round(amplitude, 1), round(k + flows - amplitude / 2, 1), 100, 0.99]


def fixed_point(flows: int, additive: float, kmin: float, kmax: float, pmax: float) -> float:
    """DCQCN's queue at its fixed point, kB (ECN or Delay): packets of 8000 bit at 40 Gbit/s; ``additive`` in bit/s."""
    rate, tau, alpha_timer, timer, counter = 40e9 / 8e3 / flows, 50e-6, 55e-6, 55e-6, 10e6 / 1e3

    def excess(p: float) -> float:
        def events(packets: float) -> float:  # p / ((1 - p) ** -packets - 1), which is 0 where that is huge
            exponent = -packets * math.log1p(-p)
            return p / math.expm1(exponent) if exponent < 500 else 0.0

        kept = 1 - p
        cut, alpha = 1 - kept ** (tau * rate), 1 - kept ** (alpha_timer * rate)
        by_bytes, by_time = events(counter), events(timer * rate)
        steps = kept ** (5 * counter) * by_bytes + kept ** (5 * timer * rate) * by_time
        return cut**2 * alpha / ((by_bytes + by_time) * steps) - tau**2 * additive / 8e3 * rate

    low, high = 1e-6, 0.1
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return round(low / pmax * (kmax - kmin) + kmin, 1)


DCTCP = {name: sawtooth(flows, k) for name, flows, k in
         (("2", 2, 40), ("10", 10, 40), ("40", 40, 40), ("k65", 2, 65), ("k20", 2, 20), ("k12", 2, 12))}  # fmt: skip
DCQCN = {
    **{str(flows): fixed_point(flows, 40e6, 5, 200, 0.01) for flows in (2, 4, 10)},
    "slow": fixed_point(10, 10e6, 5, 200, 0.01), "wide": fixed_point(10, 10e6, 5, 1000, 0.01),
    "steep": fixed_point(10, 40e6, 5, 200, 0.1), "high": fixed_point(10, 40e6, 100, 400, 0.2),
}  # fmt: skip

# Copied by hand from the papers' text, not from the files; where a paper has an equation it is computed.
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
    "adpg-ramp": {  # Table 6, the original
        ("ADPG", "2"): [96.9, 99, 5.2], ("ADPG", "16"): [95.1, 99, 6.2], ("ADPG", "64"): [93.3, 96, 7.0],
        ("ADPG", "128"): [92.5, 94, 8.0], ("ADPG", "256"): [91.4, 91, 9.3], ("ADPG", "1024"): [90.2, 74, 14.7],
        ("ADPG", "2048"): [90.5, 56, 20.3], ("ADPG", "4096"): [91.3, 46, 27.7], ("ADPG", "8192"): [92.8, 28, 40.0],
    },
    "adpg-long-short": {
        ("ADPG", "2"): [6e-7, 0, 97], ("ADPG", "128"): [8e-4, 0, 94],
        ("ADPG", "1024"): [3e-2, 1.1, 62], ("ADPG", "2048"): [3e-2, 2.7, 56],
        ("DCQCN", "2"): [3e-2, 0, 63], ("DCQCN", "128"): [5e-2, 0, 40],
        ("HPCC", "2"): [3e-5, 0, 90], ("HPCC", "128"): [1e-2, 0.4, 75],
        ("HPCC", "1024"): [2e-2, 1.1, 72], ("HPCC", "2048"): [3e-2, 1.8, 62],
        ("SWIFT", "2"): [1e-3, 0, 97], ("SWIFT", "128"): [1e-2, 0.3, 85],
        ("SWIFT", "1024"): [1e-2, 1.2, 83], ("SWIFT", "2048"): [2e-2, 2.1, 72],
    },
    "decc-many-to-one": {
        ("DECC", "8192"): [96.23, 15.32, 0.941, 2.93], ("ADPG", "8192"): [86.32, None, 0.864, None],
        ("SPINE", "8192"): [None, 20.34, None, None], ("HPCC", "8192"): [None, None, None, 5.32],
    },
    "decc-many-to-many": {
        ("DECC", "16"): [90.82, 17.32, 0.871, 4.63], ("HPCC", "16"): [81.95, None, None, None],
        ("Bolt", "16"): [None, 20.94, None, 5.23], ("ADPG", "16"): [None, None, 0.782, None],
        ("HPCC", "8"): [84.34, 16.23, 0.651, 4.23], ("DECC network", "8"): [72.32, 26.31, 0.815, 8.38],
        ("DECC compressed", "8"): [86.37, 20.01, 0.901, 5.69], ("DECC", "8"): [92.83, 12.32, 0.956, 3.32],
    },
    "decc-ablation": {  # of another scenario
        ("DECC network", "64"): [72.32, 26.31, 0.815, 8.38],
        ("DECC compressed", "64"): [86.37, 20.01, 0.901, 5.69], ("DECC", "64"): [92.83, 12.32, 0.956, 3.32],
    },
    "decc-table-4": {
        ("DECC compressed", "32"): [99.61, 5.29], ("DECC", "32"): [99.52, 5.32],
        ("DECC compressed", "256"): [98.89, 6.61], ("DECC", "256"): [98.82, 6.67],
        ("DECC compressed", "2048"): [97.18, 9.25], ("DECC", "2048"): [97.12, 9.32],
    },
    "decc-osu": {
        (row, column): [time] for row, time in (("DECC", 21.59), ("Bolt", 24.32))
        for column in ("1024", "short")
    },
    "decc-many-to-many-at-rest": {
        ("HPCC", "8"): [84.34, 16.23, 0.651, 4.23], ("DECC compressed", "8"): [86.37, 20.01, 0.901, 5.69],
        ("DECC", "8"): [92.83, 12.32, 0.956, 3.32],
    },
    "decc-long-short": {("DECC", "16"): [0.41, 71.45], ("Bolt", "16"): [0.38, 67.35]},
    "pet-websearch": {  # 5.5.1, 5.5.2, mice, their p99, elephants, latency; then table 1
        ("ACC", "best"): [-3.9, -8.2, -2.6, -9.9, -4.9, -3, None, None],
        ("SECN1", "best"): [-5.8, -23.2, -5.2, -23.6, -9.6, -7.2, None, None],
        ("SECN2", "best"): [-17.6, -67.3, -18.4, -48.6, -8.7, -18.3, None, None],
        ("PET", "60"): [None, None, None, None, None, None, 5.3, 10.2],
        ("ACC", "60"): [None, None, None, None, None, None, 6.1, 14.1],
    },
    "pet-datamining": {("ACC", "best"): [-3.7], ("SECN1", "best"): [-7.6], ("SECN2", "best"): [-13.4]},
    "pet-pattern-switch": {("ACC", "switches"): [-2.1, -7.2]},
    "pet-link-failure": {("ACC", "failure"): [-26]},
    "pet-ablation": {("without both", "best"): [-6.3]},
    "pet-mice": {},
    "dctcp-queue": {(row, column): DCTCP[column] for row in ("DCTCP", "unpaced") for column in DCTCP},
    "dcqcn-queue": {
        (row, column): [queue, 1, 100] for row in ("DCQCN", "CNPs 55 us apart") for column, queue in DCQCN.items()
    },
    "timely-stability": {
        ("TIMELY", "even"): [74, None], ("TIMELY", "late"): [40, None],  # of a figure
        **{("patched TIMELY", column): [100, round(62.5 * (1 + flows / 8), 1)] for column, flows in
           {"even": 2, "late": 2, "10": 10, "40": 40}.items()},
    },
    "swift-target": {
        ("Swift", "15"): [15, None], ("Swift", "20"): [20, None], ("Swift", "30"): [30, 100],
        ("Swift", "50"): [50, 100], ("Swift", "70"): [70, 100],
    },
    "swift-incast": {
        ("Swift", "5000"): [49.5, 0.0003, 110.2, 0.91],
        ("windows of one packet and more", "5000"): [8.7, 28.7, 2027.4, None],
    },
    "bolt-reaction": {
        ("Bolt", "arrival"): [5, None, None], ("Bolt", "after"): [None, 0.2, None], ("Bolt", "end"): [None, None, 5],
        ("Swift", "arrival"): [17.9, None, None], ("Swift", "after"): [None, 10.7, None],
        ("HPCC", "end"): [None, None, 20], ("Swift, low target", "end"): [None, None, 105],
    },
    "nscc-htsim": {
        ("NSCC", "1"): [176.2], ("NSCC", "15"): [2478.5], ("NSCC", "127"): [21029.3], ("NSCC", "1023"): [10556.2],
        ("NSCC", "perm"): [194.0],
    },
    "powertcp-incast": {("HPCC", "10"): [-50]},
    "powertcp-websearch": {
        ("HPCC", "20"): [-9], ("HPCC", "60"): [-33],
        **{(row, load): [gain] for row in ("TIMELY", "DCQCN") for load, gain in (("20", -80), ("60", -74))},
    },
    "hpcc-fct": {  # of figures
        ("HPCC", "ws30"): [1.03, 1.7, 6.1], ("HPCC", "ws50"): [1.05, 2.05, 13],
        ("HPCC", "fb30"): [1, 2.1, None], ("HPCC", "fb50"): [1.02, 2.65, None],
        ("DCQCN+w", "ws30"): [1.05, 4.35, 5.2], ("DCQCN+w", "ws50"): [1.25, 6.8, 10],
        ("DCQCN+w", "fb30"): [1, 4.15, None], ("DCQCN+w", "fb50"): [1.18, 6.6, None],
        ("DCTCP", "ws30"): [1.05, 3.75, 6.3], ("DCTCP", "ws50"): [1.25, 5.4, 12],
        ("DCTCP", "fb30"): [1, 3.55, None], ("DCTCP", "fb50"): [1.17, 5.2, None],
    },
    "hpcc-testbed": {  # of a figure, but for 550
        **{(row, column): figures for row in ("HPCC", "HPCC, T 5.4 us") for column, figures in
           {"join": [20, None, None, None], "left": [None, 97, None, None], "incast": [136, None, None, None],
            "mice": [None, None, 6.1, 1.5]}.items()},
        ("DCQCN", "join"): [225, None, None, None], ("DCQCN", "left"): [None, 76, None, None],
        ("DCQCN", "incast"): [550, None, None, None], ("DCQCN", "mice"): [None, None, 40.1, 105],
    },
    "reps-spraying": {
        ("REPS", "slow"): [None, 799], ("OPS", "slow"): [-43, 1400],
        ("OPS", "healthy"): [-4, None], ("OPS", "failing"): [-26, None],
    },
}  # fmt: skip
PRINTED["decc-at-rest"] = PRINTED["decc-many-to-one"]
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
    numbers = {
        (row, column): cell
        for row, of in comparison.rows.items()
        for column, cell in of.printed.items()
        if isinstance(cell, list)
    }
    assert numbers == numbers | PRINTED[name]
    if name != "adpg-table-6":  # of which only a part is copied above
        assert set(numbers) == set(PRINTED[name])
    lost = {(row, column) for row, of in comparison.rows.items() for column, cell in of.printed.items() if cell == "PL"}
    assert lost == LOST.get(name, set())


@pytest.mark.parametrize("name", names())
def test_all_of_its_runs_could_run_and_the_quick_part_is_quick(name: str) -> None:
    comparison = load(name)
    refused: list[str] = []
    every, quick = table_cells(comparison, refused=refused), table_cells(comparison, quick=True, refused=refused)
    assert all("no policy file" in refusal for refusal in refused)  # not trained yet
    named = [one.run.name for one in every]
    assert len(set(named)) == len(named)
    assert {(one.row, one.column) for one in quick} <= {(one.row, one.column) for one in every}
    assert sum(one.run.seconds or 0 for one in quick) <= 0.9 * QUICK_SECONDS
