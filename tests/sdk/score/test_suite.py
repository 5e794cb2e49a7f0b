"""A suite's runs: all of them known, moved by the seed and by nothing else."""

from __future__ import annotations

import pytest

from testbed.runs.overrides import resolve
from testbed.sdk.score.parts import PARTS
from testbed.sdk.score.suite import SPREAD, SUITES, Trial

TRIALS = [(number, trial) for suite in SUITES.values() for number, trial in enumerate(suite)]


@pytest.mark.parametrize(("number", "trial"), TRIALS, ids=lambda one: getattr(one, "experiment", None))
def test_a_seed_moves_the_links_delay_and_the_base_rtt_with_it(number: int, trial: Trial) -> None:
    ours = [resolve(trial.experiment, {"controller": "hpcc"}, {}, trial.seeded(seed, number)) for seed in (1, 1, 2)]
    delays = [one.experiment.rack.link.delay for one in ours]
    assert delays[0] == delays[1] != delays[2]
    assert all((1 - SPREAD) * trial.delay <= delay <= (1 + SPREAD) * trial.delay for delay in delays)
    assert ours[0].layout.paths.base_rtt[0] != ours[2].layout.paths.base_rtt[0]
    assert trial.delay == resolve(trial.experiment, {}, {}, []).experiment.rack.link.delay
    assert ours[0].experiment.time.duration > ours[0].experiment.time.warmup


def test_quick_gives_every_part() -> None:
    assert {name for trial in SUITES["quick"] for name in trial.parts} == set(PARTS)
