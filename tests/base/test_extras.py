"""Packages that only some commands need, and what gets them."""

from __future__ import annotations

import sys
import tomllib

import pytest

from testbed.base import extras
from testbed.errors import BadInput
from tests.support.checkout import ROOT

RACK_AND_REPORT = 'mininet, pyarrow are not installed; run: pip install "cc-testbed[rack,report]"'


@pytest.fixture(autouse=True)
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mininet", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)


def test_one_command_gets_all_that_is_missing() -> None:
    extras.need("matplotlib", "torch")
    with pytest.raises(BadInput) as caught:
        extras.need("mininet", "matplotlib", "pyarrow")
    assert str(caught.value) == RACK_AND_REPORT


def test_an_import_that_fails_is_explained() -> None:
    with (
        pytest.raises(BadInput, match=r'^pyarrow is not installed; run: pip install "cc-testbed\[report\]"$'),
        extras.explained(),
    ):
        import pyarrow.parquet  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match="nonexistent"), extras.explained():
        import nonexistent  # noqa: F401


def test_setup_installs_every_extra_that_a_run_may_need() -> None:
    """`make run` needs all but what trains, tests, rolls out and goes to many machines; `make test` needs all."""
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    setup = (ROOT / "scripts/setup").read_text()
    assert f"'.[{','.join(sorted(set(described) - {'cluster', 'dev', 'lab', 'train'}))}]'" in setup
    assert f"'.[{','.join(sorted(described))}]'" in setup
