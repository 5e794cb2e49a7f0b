"""Everything that can be run is: every shipped experiment begins, and traffic from every kind of file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from testbed.errors import BadInput
from testbed.experiment.load import available, load
from tests.support.chakra import COLL, COMP, node, write
from tests.support.simulated import simulated

DURATIONS = ("20 us", "50 us", "600 us", "1.5 ms", "10 ms", "20 ms")


WITHOUT_APPS = [name for name in available() if not load(name).experiment.apps]  # whose packets only Linux carries


@pytest.mark.parametrize("name", WITHOUT_APPS)
def test_a_shipped_experiment_breaks_no_invariant(name: str) -> None:
    """In the shortest of these times that has room for its flows and events, and in which something is sent."""
    for duration in DURATIONS:
        with suppress(BadInput):
            record = simulated(name, [f"time.duration={duration}", "time.warmup=0"])
            if record.flows.sent_packets.any():
                return
    pytest.fail("nothing was sent")


FILES = """
traffic:
  pattern: mix
  parts:
    - {pattern: trace, file: FOLDER/flows.csv}
    - {pattern: goal, file: FOLDER/job.goal, name: ping}
    - {pattern: chakra, file: FOLDER/llm, name: reduce}
controller: {name: fixed, rate: 10 %}
time: {duration: 60 us, warmup: 0}
"""
PING = """num_ranks 2
rank 0 {
s: send 4000b to 1 tag 7
}
rank 1 {
r: recv 4000b from 0 tag 7
}
"""


def test_traffic_from_files(tmp_path: Path) -> None:
    """A flow, a message, and a ring allreduce among two."""
    (tmp_path / "flows.csv").write_text("src,dst,bytes,start\nh1,h3,5000,0\n")
    (tmp_path / "job.goal").write_text(PING)
    reduce = [node(1, COMP, micros=5), node(2, COLL, after=(1,), comm_type=0, comm_size=4000)]
    write(tmp_path, [reduce, reduce])
    record = simulated(FILES.replace("FOLDER", str(tmp_path)))
    flows = record.flows
    assert np.isfinite(flows.finished).all()
    assert sorted(flows.acked_packets.tolist()) == [1, 1, 1, 1, 1, 2]  # of 4096 B, as jobs have them
    assert (flows.lost_packets == 0).all()
