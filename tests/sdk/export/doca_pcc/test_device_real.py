"""real.c: numbers with a fraction in whole numbers are IEEE 754's, to the bit."""

from __future__ import annotations

import ctypes
import struct
import subprocess
from pathlib import Path

import pytest

from testbed.sdk.export.card.reals import word
from testbed.sdk.export.program import SOURCE
from tests.support.card.exports import STRICT

COUNT = 1_000_000
FUNCTIONS = (
    "add", "sub", "mul", "div", "sqrt", "order", "extremes", "to whole numbers", "of a whole number", "of a word",
    "to a word", "power",
)  # fmt: skip


def test_a_million_results_are_those_of_this_machine_s_floating_point(tmp_path: Path) -> None:
    device, out = SOURCE / "device", tmp_path / "real.so"
    sources = [device / "real.c", Path(__file__).with_name("real_compared.c")]
    flags = ["-std=c99", "-O2", f"-I{device}", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
    subprocess.run(["gcc", *flags, "-shared", "-fPIC", *sources, "-o", out, "-lm"], check=True)
    wrong = (ctypes.c_int64 * len(FUNCTIONS))()
    ctypes.CDLL(str(out)).compare(ctypes.c_int64(COUNT), wrong)
    assert {name: count for name, count in zip(FUNCTIONS, wrong, strict=True) if count} == {}


def test_it_compiles_strictly(tmp_path: Path) -> None:
    source = SOURCE / "device" / "real.c"
    subprocess.run(
        ["gcc", *STRICT, "-ffreestanding", "-mgeneral-regs-only", "-c", source, "-o", tmp_path / "o"], check=True
    )


@pytest.mark.parametrize("value", [0.0, 1.0, -2.5, 1e-9, 1e11, float("inf"), -float("inf"), 1e-45, 1e39])
def test_constants_are_written_as_words(value: float) -> None:
    found = struct.unpack("<f", struct.pack("<I", word(value)))[0]
    kept = {1e-45: 0.0, 1e39: float("inf")}.get(value, value)
    assert found == pytest.approx(kept, rel=2**-24)
