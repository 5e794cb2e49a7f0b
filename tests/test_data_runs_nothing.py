"""Nothing that is read as data can run: no file of ours calls what would let it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from tests.support.checkout import ROOT

PACKAGES = ("testbed", "controllers", "plugins", "topologies", "bench", "ansible", "scripts", "docs")
RUNNING = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal", "jsonpickle", "skops"}
BY_OURSELVES = {  # between processes of one run, and what numba leaves in our own memory: never a file, never a socket
    "testbed/engines/messages.py": {"pickle"},
    "testbed/compiled/records.py": {"pickle"},
}
SAFE = {"safe_load", "safe_dump", "SafeLoader", "CSafeLoader"}


def parsed(text: str) -> list[Any]:
    return list(ast.walk(ast.parse(text)))


def sources() -> Iterator[tuple[str, list[Any]]]:
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            yield str(file.relative_to(ROOT)), parsed(file.read_text())


def imported(nodes: list[Any]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def calls(nodes: list[Any]) -> Iterator[tuple[str, dict[str, object]]]:
    """What is called of a module or an object, ``np.load``, with its constant arguments by keyword."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            base = node.func.value
            home = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
            given: dict[str, object] = {
                one.arg: one.value.value for one in node.keywords if one.arg and isinstance(one.value, ast.Constant)
            }
            yield f"{home}.{node.func.attr}", given


def problems(name: str, nodes: list[Any]) -> Iterator[str]:
    for module in (imported(nodes) & RUNNING) - BY_OURSELVES.get(name, set()):
        yield f"{name} imports {module}"
    for called, given in calls(nodes):
        if called in {"np.load", "numpy.load"} and given.get("allow_pickle") is not False:
            yield f"{name} calls {called} without allow_pickle=False"
        if called in {"torch.load", "jit.load", "PPO.load", "A2C.load", "pd.read_pickle", "read_pickle"}:
            yield f"{name} calls {called}, which reads pickles"
        if called.endswith((".extractall", ".unpack_archive")):
            yield f"{name} calls {called}: look at each member's name"
    for node in nodes:
        of_yaml = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "yaml"
        if of_yaml and "oad" in node.attr and node.attr not in SAFE:
            yield f"{name} uses yaml.{node.attr}"


def test_no_reader_that_runs_what_it_reads() -> None:
    found = [problem for name, nodes in sources() for problem in problems(name, nodes)]
    assert found == []


def test_this_would_find_them() -> None:
    text = """
import pickle, joblib
from cloudpickle import loads
np.load(file)
numpy.load(file, allow_pickle=True)
self.torch.load(file, weights_only=True)
archive.extractall(folder)
yaml.load(text, yaml.UnsafeLoader)
np.load(file, allow_pickle=False)
yaml.safe_load(text)
"""
    assert len(list(problems("x.py", parsed(text)))) == 9


def test_the_exceptions_are_still_there() -> None:
    for name, modules in BY_OURSELVES.items():
        assert imported(parsed((ROOT / name).read_text())) >= modules
