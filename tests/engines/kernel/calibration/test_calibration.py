"""Each property has some attempts, with packets as large as the experiment's."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.dataplane.wire import INT_HOP, frame
from testbed.engines.kernel.calibration import calibration
from testbed.engines.kernel.calibration.calibration import ATTEMPTS, _retried
from testbed.engines.kernel.calibration.injection import CE, HOP_AT, TOS_AT, _on_the_wire
from testbed.engines.kernel.calibration.measured import Measured
from testbed.experiment.topology.framing import Framing
from tests.support.runs import SHALLOW, run_clean


def test_an_injected_packet_has_its_mark_and_its_record_where_they_are_looked_for() -> None:
    framing = Framing(payload=900, int_hops=1)
    packet = _on_the_wire(frame(framing, 0, framing.payload))
    assert len(packet) == framing.wire_size
    assert packet[TOS_AT] & CE == 2  # ECT(0): it may be marked
    assert len(packet) - HOP_AT == INT_HOP.size + framing.payload + 4  # nothing but data and checksum behind it


def test_each_property_has_to_be_right_once_and_not_all_in_the_same_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "PAUSE", 0.0)

    def measured(**values: float) -> list[Measured]:
        return [Measured("h1:e0", what, 100.0, value, 2.0, str) for what, value in values.items()]

    attempts = iter([measured(rtt=100, rate=71), measured(rtt=140, rate=99)])
    assert [one.measured for one in _retried(lambda: next(attempts))] == [100, 99]
    wrong = iter([measured(rtt=100 + number, rate=90 + number % 3) for number in range(ATTEMPTS)])
    assert [(one.measured, one.good) for one in _retried(lambda: next(wrong))] == [(100, True), (91, False)]


@pytest.mark.root
@pytest.mark.measures
def test_large_packets_without_int_are_calibrated(tmp_path: Path) -> None:
    """Calibration's own packets have INT, but must fit where the experiment's fit."""
    packets = ("--set", "traffic.payload=4 kB")
    summary = run_clean(tmp_path, "incast-2", "--controller", "swift", "--duration", "0.5 ms", *packets, *SHALLOW)
    assert summary["goodput"] > 0
