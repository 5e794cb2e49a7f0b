"""An export that was just written, compiled and compared with its model; the tests do much more."""

from __future__ import annotations

import ctypes
import shutil
import tempfile
from ctypes import byref, c_uint32
from pathlib import Path

import numpy as np

from testbed.base.compiler import compile_to
from testbed.sdk.export.program import Program

FLOWS, ROUNDS = 200, 100
BASE_RTT, LOSSES = 8_192, 0.05  # ns; per answer
OWN_WORDS = 10  # at most
STRICT = ("-Wall", "-Wextra", "-Werror", "-Wdouble-promotion", "-Wconversion")
FLAGS = ("-std=c99", "-O2", "-ffreestanding", *STRICT, "-shared", "-fPIC")


class Answer(ctypes.Structure):
    """struct answer of controller.h."""

    _fields_ = [("rtt", c_uint32), ("losses", c_uint32), ("others", c_uint32 * 11)]


def controller(program: Program, folder: Path) -> tuple[str, str]:
    """What is wrong with the controller in ``folder``, or nothing; and what to say of the check."""
    if shutil.which("clang") is None:
        return "", "not checked: there is no clang on this machine"
    wrong = _differences(program, folder / "device")
    checked = f"checked: compiled, and {FLOWS * ROUNDS:,} decisions are bit for bit the model's"
    return (f"{wrong:,} of {FLOWS * ROUNDS:,} rates are not the model's" if wrong else ""), checked


def _differences(program: Program, device: Path) -> int:
    sources = tuple(file for file in sorted(device.glob("*.c")) if file.name != "program.c")
    with tempfile.TemporaryDirectory() as made:
        target = Path(made) / "controller.so"
        compile_to(target, sources, (*FLAGS, f"-I{device}"))
        library = ctypes.CDLL(str(target))
    values = [one.initial for one in program.every_parameter]
    parameters = (c_uint32 * len(values))(*values)
    rng, wrong, met = np.random.default_rng(1), 0, c_uint32()
    assert program.model
    model, flows = program.model(FLOWS), [(c_uint32 * OWN_WORDS)() for _ in range(FLOWS)]
    wrong += int((model.start() != [library.controller_start(own, parameters) for own in flows]).sum())
    for number in range(ROUNDS):
        queueing = rng.exponential(20_000, FLOWS) * rng.integers(0, 2, FLOWS)
        if number >= ROUNDS // 4:  # an idle line, for half of the flows
            queueing[: FLOWS // 2] = 0.0
        rtt, losses = (BASE_RTT + queueing).astype(np.int64), (rng.random(FLOWS) < LOSSES).astype(np.int64)
        answers = zip(flows, rtt.tolist(), losses.tolist(), strict=True)
        decided = [library.controller_decide(own, parameters, byref(Answer(*one)), byref(met)) for own, *one in answers]
        wrong += int((model.decide(rtt, losses) != decided).sum())
    return wrong
