"""The names of metrics as a query uses them: counters end in ``_total``, histograms are without their suffixes."""

from __future__ import annotations

from testbed.live.distributions import DISTRIBUTIONS
from testbed.live.lab_names import AS_A_RUN, OWN
from testbed.live.names import CONSTANTS, INFOS, METRICS

BY_RUNS = {one.name for table in (INFOS, CONSTANTS, DISTRIBUTIONS) for one in table} | {one.exported for one in METRICS}
BY_HOSTS = {one.asked for one in (*OWN, *AS_A_RUN)}
