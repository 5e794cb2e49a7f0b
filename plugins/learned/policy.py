"""A trained network as a file: ONNX, run by onnxruntime. Layers with ReLU between them, from features to scores.

What the network was made for (its plugin, the features' slots, the grid's size) is in its metadata and is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo, is_zipfile

import numpy as np

from testbed.base.arrays import Floats
from testbed.base.atomic import atomic_write
from testbed.base.extras import need
from testbed.errors import BadInput

INPUT, OUTPUT = "features", "scores"
OPSET, IR = 17, 8  # old enough for every onnxruntime of these years

Layer = tuple[Floats, Floats]  # weights of shape (out, in), bias of shape (out,)


@dataclass(frozen=True)
class Kind:
    """What a policy must be to be of use to a tuner."""

    plugin: str
    features: int
    scores: int


class OnnxPolicy:
    """Maps features, shape (n, features), to scores, shape (n, scores).

    The network reads and writes arrays that stay in place: handing them over is half of what a small network costs.
    """

    def __init__(self, session: Any, about: Mapping[str, str]) -> None:
        self.session, self.about = session, about
        self._features: np.ndarray = np.empty((0, 0), np.float32)
        self._scores: np.ndarray = self._features

    def scores(self, features: Floats) -> Floats:
        """See the class; nan is passed on. Valid until the next call."""
        if self._features.shape != features.shape:
            self._bind(len(features))
        self._features[:] = features
        self.session.run_with_iobinding(self._binding)
        return self._scores

    def _bind(self, n: int) -> None:
        (taken,), (given,) = self.session.get_inputs(), self.session.get_outputs()
        self._features = np.empty((n, taken.shape[1]), np.float32)
        self._scores = np.empty((n, given.shape[1]), np.float32)
        self._binding = self.session.io_binding()
        where = ("cpu", 0, np.float32)
        self._binding.bind_input(INPUT, *where, self._features.shape, self._features.ctypes.data)
        self._binding.bind_output(OUTPUT, *where, self._scores.shape, self._scores.ctypes.data)

    @classmethod
    def load(cls, file: Path, kind: Kind, switch: str = "") -> OnnxPolicy:
        """Raises BadInput if the file is missing, has no such policy (for the switch), or returns nan."""
        need("onnxruntime")
        import onnxruntime

        if not file.is_file():
            raise BadInput(f"no policy file at {file}; 'testbed train {kind.plugin}' makes one")
        content = of_switch(file, switch)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # agents have the cores
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 - onnxruntime raises many kinds of its own
            raise BadInput(f"{file} is not an ONNX network: {str(error).splitlines()[0]}") from None
        loaded = cls(session, session.get_modelmeta().custom_metadata_map)
        _check(file, session, loaded, kind)
        return loaded


def _check(file: Path, session: Any, policy: OnnxPolicy, kind: Kind) -> None:
    made_for = policy.about.get("plugin", "nothing that is known")
    if made_for != kind.plugin:
        raise BadInput(f"{file} was made for {made_for}, expected a policy of '{kind.plugin}'")
    (taken,), (given,) = session.get_inputs(), session.get_outputs()
    if (taken.shape[1:], given.shape[1:]) != ([kind.features], [kind.scores]):
        raise BadInput(
            f"{file} maps {taken.shape[1:]} features to {given.shape[1:]} scores, expected {kind.features} to "
            f"{kind.scores}: it was trained with other options (slots, flows, levels)"
        )
    probes = np.concatenate((np.zeros((1, kind.features)), np.ones((1, kind.features)), np.eye(kind.features)))
    if not np.isfinite(policy.scores(probes)).all():
        raise BadInput(f"{file} gives scores that are no numbers")


def write(layers: Sequence[Layer], file: Path, about: Mapping[str, str]) -> None:
    """Write the ONNX file, whole or not at all. Raises BadInput without the package onnx."""
    atomic_write(file, encoded(layers, about))


def encoded(layers: Sequence[Layer], about: Mapping[str, str]) -> bytes:
    """The content of the ONNX file. Raises BadInput without the package onnx."""
    need("onnx")
    from onnx import TensorProto, checker, helper, numpy_helper

    nodes, weights, value = [], [], INPUT
    for number, (matrix, bias) in enumerate(layers):
        weights.append(numpy_helper.from_array(matrix.astype(np.float32), f"weights{number}"))
        weights.append(numpy_helper.from_array(bias.astype(np.float32), f"bias{number}"))
        last = number == len(layers) - 1
        into = OUTPUT if last else f"sum{number}"
        nodes.append(helper.make_node("Gemm", [value, f"weights{number}", f"bias{number}"], [into], transB=1))
        if not last:
            nodes.append(helper.make_node("Relu", [into], [f"hidden{number}"]))
        value = f"hidden{number}"
    features, scores = layers[0][0].shape[1], layers[-1][0].shape[0]
    inputs = [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["n", features])]
    outputs = [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["n", scores])]
    graph = helper.make_graph(nodes, "tuner", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    helper.set_model_props(model, dict(about))
    checker.check_model(model)
    return bytes(model.SerializeToString())


def of_switch(file: Path, switch: str) -> bytes:
    """The ONNX content of a policy file; of a collection (`collect`) that of a switch. Raises BadInput."""
    if not is_zipfile(file):
        return file.read_bytes()
    with ZipFile(file) as collection:
        names = {Path(name).stem: name for name in collection.namelist()}
        if switch not in names:
            raise BadInput(f"{file} has policies for {', '.join(names) or 'no switch'}, and none for {switch}")
        return collection.read(names[switch])


def collect(policies: Mapping[str, bytes], file: Path) -> None:
    """Write one file with the policies of several switches, by the switches' names."""
    content = BytesIO()
    with ZipFile(content, "w") as collection:
        for switch, policy in sorted(policies.items()):
            collection.writestr(ZipInfo(f"{switch}.onnx"), policy)  # without a time: the same bits again
    atomic_write(file, content.getvalue())


def layers_in(content: bytes) -> list[Layer]:
    """The weights in a policy that `encoded` made, to go on training them."""
    from onnx import load_model_from_string, numpy_helper

    arrays = {one.name: numpy_helper.to_array(one) for one in load_model_from_string(content).graph.initializer}
    return [(arrays[f"weights{one}"], arrays[f"bias{one}"]) for one in range(len(arrays) // 2)]
