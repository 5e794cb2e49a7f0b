"""Packages that only some commands need, and what gets them."""

from __future__ import annotations

import sys
import tomllib

import pytest

from testbed.base import extras
from testbed.errors import BadInput
from tests.support.checkout import ROOT

RACK_AND_LEARNED = (
    'mininet, onnxruntime are not installed; run: pip install "cc-testbed[learned,rack]" '
    "(uv tool, pipx: install again, with [learned,rack] added)"
)


@pytest.fixture(autouse=True)
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mininet", "onnxruntime"):
        monkeypatch.setitem(sys.modules, name, None)


def test_one_command_gets_all_that_is_missing() -> None:
    extras.need("networkx", "torch")
    with pytest.raises(BadInput) as caught:
        extras.need("mininet", "networkx", "onnxruntime")
    assert str(caught.value) == RACK_AND_LEARNED


def test_a_package_is_known_by_the_name_that_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)  # stable-baselines3 in pyproject.toml
    with pytest.raises(BadInput, match="stable_baselines3 is not installed; run: pip install"):
        extras.need("stable_baselines3")


def test_an_import_that_fails_is_explained() -> None:
    with (
        pytest.raises(
            BadInput,
            match=r'^onnxruntime is not installed; run: pip install "cc-testbed\[learned\]" '
            r"\(uv tool, pipx: install again, with \[learned\] added\)$",
        ),
        extras.explained(),
    ):
        import onnxruntime  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match="nonexistent"), extras.explained():
        import nonexistent  # noqa: F401


def test_setup_installs_every_extra_that_a_run_may_need() -> None:
    """`make run` needs all that a run may need; `make test` needs all."""
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    setup = (ROOT / "scripts/setup").read_text()
    others = {"cluster", "dev", "docs", "lab", "notebook", "pandas", "train"}
    assert f"'.[{','.join(sorted(set(described) - others))}]'" in setup
    assert f"'.[{','.join(sorted(described))}]'" in setup
