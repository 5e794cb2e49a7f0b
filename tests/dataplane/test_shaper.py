"""How much a shaper lets through at once."""

from __future__ import annotations

import pytest

from testbed.dataplane.shaper import burst


def test_two_frames_where_links_are_slow() -> None:
    assert burst(1e6, frame=1500) == 3000


def test_what_agents_send_in_one_go_where_they_are_fast() -> None:
    assert burst(10e9, frame=1500) == pytest.approx(10e9 / 8 * 150e-6)
