"""The compiled library: kept per user, new whenever anything in it is, and not needed at all."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from testbed.compiled import machine
from testbed.compiled.flows import CompiledFlows, build
from testbed.controller import CompiledController
from testbed.plugin import PluginConfig
from testbed.registry import find
from tests.support.checkout import ROOT
from tests.support.rows import feedback, paths

TEXT = """\
from testbed.controller import CompiledController, Table
from testbed.plugin import PluginConfig
import numpy as np

class Options(PluginConfig):
    gain: float = 2.0

FACTOR = 3.0

def scaled(x):
    return x * FACTOR

class Mine(CompiledController):
    name = "mine"
    Config = Options
    table: Table

    def __init__(self, config, path):
        super().__init__(config, path)
        self.table = np.array([1.0, 5.0])

    def on_ack(self, ack):
        self.rate = scaled(self.config.gain) + self.table[1]
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("TESTBED_CACHE", str(folder))
    return folder


def rate_of(folder: Path, text: str, **options: object) -> float:
    """What a controller with this text decides, in a process of its own."""
    file = folder / "mine.py"
    file.write_text(text)
    plugin = find("controller", str(file))
    one = build(plugin.form, plugin.configure(None, options), paths())
    assert isinstance(one, CompiledFlows)
    assert one.runs_as == "machine code"
    one.on_start(0.0, np.array([0]))
    one.on_feedback(1.0, np.array([0]), feedback(acked_packets=1, rtt=9e-6))
    return float(one.rate[0])


def test_the_same_text_elsewhere_is_not_compiled_again_and_errors_name_its_file(tmp_path: Path, cache: Path) -> None:
    own = "        if self.config.gain == 2:\n            raise ValueError('two')\n        self.rate ="
    text = TEXT.replace("        self.rate =", own)
    line = text.splitlines().index("            raise ValueError('two')")
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        with pytest.raises(ValueError, match="two") as error:
            rate_of(tmp_path / name, text)
        assert (error.traceback[-1].path, error.traceback[-1].lineno) == (tmp_path / name / "mine.py", line)
        assert rate_of(tmp_path / name, text, gain=4) == 17.0
    assert libraries(cache) == 1


def test_whole_numbers_are_divided_in_place(tmp_path: Path, cache: Path) -> None:
    text = TEXT.replace("    table: Table", "    table: Table\n    n: int")
    text = text.replace("        self.rate =", "        self.n += 9\n        self.n //= 2\n        self.rate = 1 +")
    assert rate_of(tmp_path, text) == 12.0
    assert libraries(cache) == 1


def libraries(cache: Path) -> int:
    return len(list(cache.glob("controller-*.so")))


def test_it_is_compiled_once_for_all_options_that_are_numbers(tmp_path: Path, cache: Path) -> None:
    assert rate_of(tmp_path, TEXT) == 11.0
    assert rate_of(tmp_path, TEXT, gain=4) == 17.0
    assert libraries(cache) == 1


@pytest.mark.parametrize(
    ("old", "new", "rate"),
    [
        ("FACTOR = 3.0", "FACTOR = 4.0", 13.0),  # a constant of the module
        ("x * FACTOR", "x + FACTOR", 10.0),  # a function that a callback calls
        ("[1.0, 5.0]", "[1.0, 6.0]", 12.0),  # a table
        ("self.table[1]", "self.table[0]", 7.0),
    ],
)
def test_it_is_compiled_again_when_something_changes(
    old: str, new: str, rate: float, tmp_path: Path, cache: Path
) -> None:
    assert rate_of(tmp_path, TEXT) == 11.0
    assert rate_of(tmp_path, TEXT.replace(old, new)) == rate
    assert libraries(cache) == 2


def test_from_the_cache_numba_is_not_imported(tmp_path: Path, cache: Path) -> None:
    assert rate_of(tmp_path, TEXT) == 11.0
    program = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from testbed.compiled.flows import build
from testbed.controller import CompiledController
from testbed.plugin import PluginConfig
from testbed.registry import find
from tests.support.rows import paths
plugin = find("controller", {str(tmp_path / "mine.py")!r})
print(build(plugin.form, plugin.configure(None, {{}}), paths()).runs_as, "numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("machine code False\n", "")
    assert libraries(cache) == 1


def test_int_is_compiled_where_somebody_has_used_numba_before(cache: Path) -> None:
    program = f"""
import sys, numba
sys.path.insert(0, {str(ROOT)!r})
numba.njit("void()")(lambda: None)
from testbed.compiled.flows import build
from testbed.registry import find
from tests.support.rows import paths
plugin = find("controller", "hpcc")
print(build(plugin.form, plugin.configure(None, {{}}), paths()).runs_as)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("machine code\n", "")
    assert libraries(cache) == 1


class Powers(CompiledController):
    """Exponents that an optimiser would like to know."""

    name = "powers"
    n: int

    def on_cnp(self, now: float) -> None:
        self.n = self.n % 60 + 1
        whole = now**2 + now**3 + now**self.n + 2**self.n + math.pow(now, self.n)
        self.rate = 1 + whole + now**0.5 + now**-1.5 + math.pow(now, 2)


def test_powers_are_python_s_to_the_last_bit() -> None:
    compiled, plain = (build(Powers, PluginConfig(), paths(), one) for one in (True, False))
    numbers = np.random.default_rng(1).uniform(0.9, 1.1, 3000)
    for one in (compiled, plain):
        one.on_start(0.0, np.array([0]))
    for now in numbers.tolist():
        for one in (compiled, plain):
            one.on_feedback(now, np.array([0]), feedback(cnps=1))
        assert compiled.rate[0] == plain.rate[0]


@pytest.mark.parametrize("missing", ["numba", "a C compiler"])
def test_without_numba_or_a_compiler_python_decides_and_says_what_is_missing(
    missing: str, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if missing == "numba":
        monkeypatch.setattr(machine, "find_spec", lambda _: None)
    else:
        monkeypatch.delenv("CC", raising=False)
        monkeypatch.setenv("PATH", "/nowhere")
    machine._warn.cache_clear()
    file = tmp_path / "mine.py"
    file.write_text(TEXT)
    plugin = find("controller", str(file))
    one = build(plugin.form, plugin.configure(None, {}), paths())
    assert isinstance(one, CompiledFlows)
    assert one.runs_as == "Python"
    assert f"Mine decides as plain Python, which takes longer: {missing} is " in caplog.text
    assert "run: " in caplog.text
    assert libraries(cache) == 0


def test_what_was_compiled_before_needs_no_compiler(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rate_of(tmp_path, TEXT) == 11.0
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    assert rate_of(tmp_path, TEXT) == 11.0  # as machine code
    assert libraries(cache) == 1
