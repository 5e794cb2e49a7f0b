"""`testbed list`: everything there is, and what a plugin's options are."""

from __future__ import annotations

import json
import re

from testbed.experiment.load import available
from tests.support.commands import command


def test_list_names_everything() -> None:
    done = command("list")
    for name in [*available(), "dcqcn", "fixed", "hpcc", "swift", "static"]:
        assert f"\n  {name} " in done.stdout


def test_list_of_one_plugin_explains_its_options() -> None:
    done = command("list", "swift")
    assert done.stdout.startswith("controller swift: ")
    assert re.search(r"^  htsim  +.*base_target: 20 us", done.stdout, re.MULTILINE)
    assert re.search(r"^  base_target  +12 us  +Target delay", done.stdout, re.MULTILINE)
    found = json.loads(command("list", "static", "--format", "json").stdout)
    assert (found["kind"], list(found["presets"])) == ("tuner", ["secn2", "secn1"])
    assert {one["name"]: one["default"] for one in found["options"]}["kmin"] == "100 kB"
    wrong = command("list", "swft")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 'swift'" in wrong.stderr
