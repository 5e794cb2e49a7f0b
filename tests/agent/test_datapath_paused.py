"""A paused host holds its packets to the slot: a packet k of a flow at line rate is due in slot k."""

from __future__ import annotations

import numpy as np

from tests.support.agents import Bench


def sent(bench: Bench, first: float, last: float) -> list[int]:
    """Packets per wake-up, once per slot."""
    return [len(bench.at(float(now))) for now in np.arange(first, last)]


def test_a_pause_holds_the_line_and_gives_no_credit() -> None:
    with Bench(relook=1.0) as bench:
        bench.start()
        bench.pause(9.8, 20.0)
        assert sent(bench, 0.5, 10.5) == [1] * 10
        assert sent(bench, 10.5, 20.5) == [0] * 10
        assert sent(bench, 20.5, 40.5) == [1] * 20


def test_a_pause_can_be_renewed_and_ended() -> None:
    with Bench(relook=1.0) as bench:
        bench.start()
        bench.pause(9.8, 100.0)
        assert sum(sent(bench, 0.5, 15.5)) == 10
        bench.pause(9.8, 200.0)
        assert sum(sent(bench, 15.5, 150.5)) == 0
        bench.pause(9.8, 160.0)
        assert sum(sent(bench, 150.5, 160.5)) == 0
        assert sent(bench, 160.5, 170.5) == [1] * 10


def test_a_pause_may_follow_before_the_last_one_has_ended() -> None:
    with Bench(relook=1.0) as bench:
        bench.start()
        bench.pause(9.8, 15.0)
        bench.pause(16.8, 20.0, newest=1)
        assert sum(sent(bench, 0.5, 15.5)) == 10
        assert sent(bench, 15.5, 17.5) == [1, 1]  # slots 15 and 16
        assert sent(bench, 17.5, 20.5) == [0, 0, 0]
        assert sent(bench, 20.5, 25.5) == [1] * 5


def test_a_sender_that_slept_through_a_pause_does_not_make_up_for_it() -> None:
    with Bench(relook=1.0) as bench:
        bench.start()
        assert len(bench.at(5.5)) == 6
        bench.pause(9.8, 20.0)
        assert len(bench.at(25.5)) == 6  # slots 20 to 25


def test_only_the_paused_host_is_held() -> None:
    with Bench(hosts=(0, 0, 1), relook=1.0) as bench:
        bench.start()
        bench.pause(0.0, 100.0, host=0)
        flows = [packet.flow for now in np.arange(0.5, 90.5) for packet in bench.at(float(now))]
        assert flows == [2] * 90
        after = [packet.flow for now in np.arange(100.5, 120.5) for packet in bench.at(float(now))]
        assert [after.count(flow) for flow in (0, 1)] == [10, 10]  # they take turns again
