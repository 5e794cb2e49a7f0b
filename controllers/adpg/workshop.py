"""How ADPG's policies are made: `testbed train`, `distil`, `explain` and `export`."""

from __future__ import annotations

from testbed.sdk.jobs import Workshop

from .export.job import EXPORT
from .workshop_distil import DISTIL

# from .workshop_explain import EXPLAIN
from .workshop_explain import EXPLAIN
from .workshop_train import TRAIN

WORKSHOP = Workshop({"train": TRAIN, "distil": DISTIL, "export": EXPORT, "explain": EXPLAIN})
