"""Names of a lab host's metrics."""

from __future__ import annotations

import json

from testbed.live import names as run
from testbed.live.lab_names import AS_A_RUN, OWN
from testbed.live.metric import LABELS


def test_names_shared_with_runs_have_the_same_labels() -> None:
    of_runs = {one.name: LABELS[one.per] for one in (*run.METRICS, *run.CONSTANTS)}
    of_runs |= {one.name: one.labels for one in run.INFOS}
    assert {one.name: one.labels for one in AS_A_RUN} == {one.name: of_runs[one.name] for one in AS_A_RUN}
    assert not {one.name for one in OWN} & set(of_runs)
    assert json.dumps([one.help for one in OWN])
