"""ADPG: one small learned policy for every flow (Tessler et al., IAAI 2022; Fuhrer et al., CCGrid 2023).

Once per RTT a flow multiplies its rate by what the policy makes of the last two RTTs and decisions. The policy is
trained in the fluid model with the analytic gradient (`training`), distilled to trees (`distillation`), and runs in
three forms: trees, the network through onnxruntime, and the network in 8 bit integers. `policies` has the shipped ones,
with the command, the seed and the log of their training.
"""

from __future__ import annotations

from .controller import AdpgController, Policy
from .distilled import POLICIES, Adpg
from .int8 import Int8Network
from .observation import AdpgConfig
from .onnx_network import OnnxNetwork

__all__ = ["Adpg", "AdpgInt8", "AdpgNn"]


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
