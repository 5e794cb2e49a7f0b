"""How SPINE's policy is made: `testbed train`."""

from testbed.sdk.jobs import JobSet

from .job_train import TRAIN

JOBS = JobSet({"train": TRAIN})
