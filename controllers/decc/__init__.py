"""DECC: a learned window and rate, decided once per RTT (DPU-driven congestion control, in Chinese).

Trained by MADDPG (`training`), pruned and quantised (`compression`), and made into boosted trees (`distillation`). It
runs in three forms: `decc`, the trees; `decc-quantised`, the compressed network; `decc-nn`, the network. `policies` has
the shipped ones, with the command, the seeds and the log of their training;
docs/explanation/decc.md what differs from the paper.
"""

from .boosted import Decc
from .neural import DeccNn, DeccQuantised

__all__ = ["Decc", "DeccNn", "DeccQuantised"]
