"""A bar for each queue of every port: from the run's record to the folder, and back into the report."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from testbed.results.report.port_queues import port_queues
from testbed.results.tables import write_tables
from tests.support.queued_runs import with_queues
from tests.support.synthetic_runs import run


def test_every_port_has_its_queues(tmp_path: Path) -> None:
    record = with_queues()
    write_tables(tmp_path, record)
    text = port_queues(tmp_path, record)
    busy, marks = record.ports[record.bottleneck], 1e6 * record.port_series.time[-1]
    says = f"{busy} q3 rdma: mean 50 kB, highest 90 kB; marked {marks:,.0f}, dropped 0 packets; held 0 us"
    parts = [*ElementTree.fromstring(text)]
    bars = [float(part.attrib["width"]) for part in parts if [one.text for one in part] == [says]]
    frame, highest, mean = bars
    assert (highest, round(mean / frame, 3)) == (frame, round(50 / 90, 3))
    words = [part.text for part in parts]
    assert words.count("M") == 1
    assert {"q3", "q5", "a full bar is 90 kB"} <= {*words}
    assert sum(f"{port} to " in str(word) for port in record.ports for word in words) == len(record.ports)


def test_a_port_of_one_queue_has_none(tmp_path: Path) -> None:
    write_tables(tmp_path, run())
    assert port_queues(tmp_path, run()) == ""
