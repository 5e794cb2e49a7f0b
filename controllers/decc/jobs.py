"""How DECC's policies are made: `testbed train` and `distil`."""

from testbed.sdk.jobs import JobSet

from .job_distil import DISTIL
from .job_train import TRAIN

JOBS = JobSet({"train": TRAIN, "distil": DISTIL})
