"""A manifest for the tests that write or show results."""

from __future__ import annotations

import pytest

from testbed.results.manifest import Manifest
from tests.results.written import described


@pytest.fixture
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return described(tmp_path_factory.mktemp("plugin") / "my_cc.py")
