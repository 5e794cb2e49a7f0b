"""A manifest for the tests that write or show results."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.registry import Plugin
from testbed.results.manifest import Manifest, describe


@pytest.fixture
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    file = tmp_path_factory.mktemp("plugin") / "my_cc.py"
    file.write_text("rate = 1\n")
    return describe(
        engine="kernel",
        experiment={
            "name": "incast-2",
            "note": "</script><b>not markup</b>",
            "rack": {"link": {"rate": "100 Gbit/s"}, "switch": {"buffer": "5 MB"}},
            "time": {"warmup": "2 ms"},
        },
        command_line=["testbed", "run", "incast-2"],
        seed=7,
        controller=Plugin("controller", "my_cc", object, str(file), Path(file)),
        kernel_features={"netem": False},
    )
