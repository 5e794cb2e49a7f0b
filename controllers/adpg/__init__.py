"""ADPG: one small learned policy for every flow (Tessler et al., IAAI 2022; Fuhrer et al., CCGrid 2023).

Once per RTT a flow multiplies its rate by what the policy makes of the last two RTTs and decisions. The policy is
trained in the fluid model with the analytic gradient (`training`), distilled to trees (`distillation`), and runs in
three forms: trees, the network through onnxruntime, and the network in 8 bit integers. `policies` has the shipped ones,
with the command, the seed and the log of their training.
"""

from __future__ import annotations

from pathlib import Path

from testbed.base.arrays import Ints
from testbed.controller import Feedback, Paths

from .compiled import Batch, CompiledTrees
from .controller import AdpgController, Policy
from .int8 import Int8Network
from .observation import AdpgConfig
from .onnx_network import OnnxNetwork
from .tree import Trees

POLICIES = Path(__file__).with_name("policies")


class Adpg(AdpgController):
    """ADPG, distilled: 20 trees of depth 4 decide in well under a microsecond."""

    name = "adpg"
    shipped = POLICIES / "trees.json"

    @classmethod
    def load(cls, config: AdpgConfig) -> Policy:
        return CompiledTrees(Trees.load(cls.file(config)))

    def __init__(self, config: AdpgConfig, paths: Paths) -> None:
        super().__init__(config, paths)
        assert isinstance(self.policy, CompiledTrees)
        compiled = self.policy.library
        self._in_c = Batch(compiled, self) if compiled else super().on_feedback

    def on_feedback(self, now: float, flows: Ints, feedback: Feedback) -> None:
        self._in_c(now, flows, feedback)


class AdpgNn(AdpgController):
    """ADPG's network, through onnxruntime."""

    name = "adpg-nn"
    shipped = POLICIES / "network.onnx"

    @classmethod
    def load(cls, config: AdpgConfig) -> Policy:
        return OnnxNetwork.load(cls.file(config))


class AdpgInt8(AdpgController):
    """ADPG's network in 8 bit integers, as NICs run it."""

    name = "adpg-int8"
    shipped = POLICIES / "int8.json"

    @classmethod
    def load(cls, config: AdpgConfig) -> Policy:
        return Int8Network.load(cls.file(config))
