"""Random traffic: seeded, at the load that was asked for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from testbed.experiment.load import load
from testbed.experiment.traffic.pattern import Context
from testbed.experiment.traffic.plan import Plan
from testbed.experiment.traffic.poisson import Poisson, arrivals

RATE = 25e9


def poisson(**keys: object) -> Poisson:
    return Poisson.model_validate({"pattern": "poisson", "sizes": "websearch", "load": "60 %", **keys})


def context(end: float, seed: int = 1, hosts: int = 16) -> Context:
    return Context(hosts, RATE, end, (seed,))


def test_same_seed_same_flows_and_another_seed_others() -> None:
    pattern = poisson(incast={"degree": 20, "size": "10 kB", "period": "1 ms"})
    flows = pattern.expand(context(20e-3))
    assert flows == pattern.expand(context(20e-3))
    other = pattern.expand(context(20e-3, seed=2))
    assert not {flow[:4] for flow in flows} & {flow[:4] for flow in other}


def test_a_longer_run_begins_like_a_shorter_one() -> None:
    short, long = ({flow.start for flow in poisson().expand(context(end))} for end in (10e-3, 20e-3))
    assert short == {start for start in long if start < 10e-3}


def test_arrivals_are_a_poisson_process() -> None:
    times = arrivals(np.random.default_rng(1), 1e-6, 0.5, 0.6)
    gaps = np.diff(times)
    assert len(times) == pytest.approx(100_000, abs=4 * 100_000**0.5)
    assert gaps.mean() == pytest.approx(1e-6, rel=0.02)
    assert gaps.std() == pytest.approx(1e-6, rel=0.02)
    assert times[0] >= 0.5
    assert times[-1] < 0.6


@pytest.mark.parametrize("sizes", ["websearch", "datamining"])
@pytest.mark.parametrize("load", [0.1, 0.9])
def test_load_is_what_was_asked_for(sizes: str, load: float) -> None:
    end, hosts = 4.0, 16  # as plenty of flows need: 29,000 to 260,000
    pattern = poisson(sizes=sizes, load=load, largest="30 MB")
    flows = pattern.expand(context(end))
    assert len(flows) == pytest.approx(pattern.flow_count(context(end)), rel=0.03)
    offered = sum(flow.size for flow in flows) * 8 / (end * RATE * hosts)
    assert offered == pytest.approx(load, rel=0.05)


def test_destinations_are_uniform_over_the_other_hosts() -> None:
    plan = Plan.of(poisson(hosts=4).expand(context(1.0)))
    pairs = Counter(zip(plan.src, plan.dst, strict=True))
    assert len(pairs) == 12
    assert all(src != dst for src, dst in pairs)
    mean = len(plan) / 12
    assert all(abs(count - mean) < 5 * mean**0.5 for count in pairs.values())


@pytest.mark.parametrize("way", [{"period": "0.1 ms"}, {"share": 20 * 50e3 * 8 / 0.1e-3 / (16 * RATE)}])
def test_incasts_mixed_in(way: dict[str, object]) -> None:
    pattern = poisson(incast={"degree": 20, "size": "50 kB", **way})
    flows = [flow for flow in pattern.expand(context(1.05e-3)) if flow.label == "incast"]
    assert len(flows) == 10 * 20
    starts = sorted({flow.start for flow in flows})
    assert starts == pytest.approx([i * 0.1e-3 for i in range(1, 11)])
    receivers = set()
    for start in starts:
        one = [flow for flow in flows if flow.start == start]
        (receiver,) = {flow.dst for flow in one}
        receivers.add(receiver)
        assert len({flow.src for flow in one} - {receiver}) == 15  # 20 flows of 15 others: five send two
    assert len(receivers) > 3


def test_no_incast_comes_at_the_end() -> None:
    pattern = poisson(incast={"degree": 2, "size": "10 kB", "period": "3 ms"})
    starts = {flow.start for flow in pattern.expand(context(12e-3)) if flow.label == "incast"}
    assert sorted(starts) == pytest.approx([3e-3, 6e-3, 9e-3])


def test_cut_sizes_are_told() -> None:
    assert poisson().notes() == []
    (note,) = poisson(sizes="datamining", largest="30 MB").notes()
    assert note == "sizes of 'datamining' above 30 MB were cut to it: mean 1.49922 MB instead of 12.6582 MB"


def test_own_sizes_are_found_beside_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "sizes.yaml").write_text("source: mine\nunit: 1 kB\npoints: [[2, 1]]\n")
    file = tmp_path / "mine.yaml"
    file.write_text("traffic: {pattern: poisson, hosts: 4, sizes: ./sizes.yaml, load: 0.05}\ncontroller: dcqcn\n")
    assert set(load(str(file)).experiment.plan.size) == {2000.0}
