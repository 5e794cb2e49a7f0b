"""How ADPG's policies are made: `testbed train`, `distil`, `explain` and `export`."""

from testbed.sdk.jobs import JobSet

from .export.job import EXPORT
from .job_distil import DISTIL
from .job_explain import EXPLAIN
from .job_train import TRAIN

JOBS = JobSet({"train": TRAIN, "distil": DISTIL, "export": EXPORT, "explain": EXPLAIN})
