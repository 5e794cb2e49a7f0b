"""Sizes of packets on the wire."""

from __future__ import annotations

from testbed.experiment.topology.framing import Framing


def test_int_takes_the_place_of_data() -> None:
    plain = Framing(payload=4000)
    probe = plain.with_int(3)
    assert (probe.int_hops, probe.wire_size) == (3, plain.wire_size)
    assert probe.with_int(3) == probe
    assert Framing(payload=64).with_int(3).payload == 0  # larger than asked, but there is always room for that
