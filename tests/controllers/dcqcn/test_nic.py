"""DCQCN as NICs do it."""

from __future__ import annotations

import pytest

from tests.controllers.dcqcn.presets import CNP, nic, step
from tests.support.rows import ONE, feedback


def test_nic_has_one_recovery_step_one_additive_and_then_hyper_without_growth() -> None:
    dcqcn = nic()
    for _ in range(3):
        dcqcn.on_feedback(0.0, ONE, CNP)
        step(dcqcn)
    dcqcn.target[0] = 10e9
    dcqcn.alpha[0] = 1.0
    dcqcn.on_feedback(1e-3, ONE, CNP)
    gained = []
    for _ in range(4):
        before = dcqcn.target[0]
        step(dcqcn)
        gained.append(round((dcqcn.target[0] - before) / 1e6))
    assert gained == [0, 5, 50, 50]


def test_nic_cuts_once_for_cnps_that_are_heard_together() -> None:
    dcqcn = nic(initial_alpha=1.0)
    dcqcn.on_feedback(0.0, ONE, feedback(cnps=3))
    assert dcqcn.rate[0] == 25e9 / 2
    assert dcqcn.timer[0] == pytest.approx(4e-6)  # when the others are heeded


def test_nic_cuts_at_most_once_per_period_and_forgets_no_cnp() -> None:
    dcqcn = nic(initial_alpha=1.0)
    dcqcn.on_feedback(0.0, ONE, CNP)
    first = dcqcn.rate[0]
    assert first == 25e9 / 2
    dcqcn.on_feedback(1.5e-6, ONE, CNP)
    assert dcqcn.rate[0] == first
    assert dcqcn.timer[0] == pytest.approx(4e-6)
    step(dcqcn)
    assert dcqcn.rate[0] < 0.52 * first
    assert dcqcn.timer[0] == pytest.approx(4e-6 + 300e-6)


def test_nic_keeps_the_target_while_cuts_follow_each_other() -> None:
    dcqcn = nic()
    dcqcn.on_feedback(0.0, ONE, CNP)
    dcqcn.on_feedback(5e-6, ONE, CNP)
    assert dcqcn.target[0] == 25e9
    step(dcqcn)
    rate = dcqcn.rate[0]
    dcqcn.on_feedback(400e-6, ONE, CNP)
    assert dcqcn.target[0] == rate
