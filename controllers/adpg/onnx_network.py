"""The network as an ONNX file: writing it (onnx) and running it (onnxruntime)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from testbed.base.arrays import Floats
from testbed.base.atomic import atomic_write
from testbed.base.extras import need
from testbed.errors import BadInput

from .network import SHAPES, Network
from .observation import FEATURES, multiplier

INPUT, OUTPUT = "features", "action"
OPSET, IR = 17, 8  # old enough for every onnxruntime of these years


class OnnxNetwork:
    """A session that maps features, shape (k, 4), to actions, shape (k, 1)."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def decide(self, features: Floats) -> Floats:
        """Multipliers, shape (k,)."""
        actions = self.session.run([OUTPUT], {INPUT: features.astype(np.float32)})[0]
        return multiplier(actions[:, 0].astype(float))

    @classmethod
    def load(cls, file: Path) -> OnnxNetwork:
        """Raises BadInput if the file is no such network, or onnxruntime is missing."""
        need("onnxruntime")
        import onnxruntime

        if not file.is_file():
            raise BadInput(f"no policy file at {file}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # agents have one core each
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 - onnxruntime raises many kinds of its own
            hint = "; adpg-nn runs the network.onnx that 'testbed train adpg' writes" if file.suffix == ".json" else ""
            raise BadInput(f"{file} is not an ONNX network: {str(error).splitlines()[0]}{hint}") from None
        loaded = cls(session)
        loaded._check(file)
        return loaded

    def _check(self, file: Path) -> None:
        inputs = [(one.name, one.shape[1:]) for one in self.session.get_inputs()]
        outputs = [one.name for one in self.session.get_outputs()]
        if inputs != [(INPUT, [FEATURES])] or outputs != [OUTPUT]:
            raise BadInput(f"{file} maps {inputs} to {outputs}, expected {INPUT} with {FEATURES} columns to {OUTPUT}")
        if not np.isfinite(self.decide(np.ones((2, FEATURES)))).all():
            raise BadInput(f"{file} gives what is no number")


def write(network: Network, file: Path) -> None:
    """Write the ONNX file, whole or not at all. Raises BadInput without the package onnx."""
    need("onnx")
    from onnx import TensorProto, checker, helper, numpy_helper

    nodes, weights, value = [], [], INPUT
    for number, layer in enumerate(network.layers):
        weights.append(numpy_helper.from_array(layer.T.astype(np.float32), f"weights{number}"))
        nodes.append(helper.make_node("MatMul", [value, f"weights{number}"], [f"sum{number}"]))
        last = number == len(SHAPES) - 1
        value = OUTPUT if last else f"hidden{number}"
        nodes.append(helper.make_node("Tanh" if last else "Relu", [f"sum{number}"], [value]))
    inputs = [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["k", FEATURES])]
    outputs = [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["k", 1])]
    graph = helper.make_graph(nodes, "adpg", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    checker.check_model(model)
    atomic_write(file, model.SerializeToString())
