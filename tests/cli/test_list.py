"""`testbed list`: everything there is, and what a plugin's options are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from testbed.experiment.load import available as experiments
from testbed.registry import GROUPS, available
from tests.support.commands import command


def test_list_names_everything() -> None:
    done = command("list")
    for name in [*experiments(), "dcqcn", "fixed", "hpcc", "swift", "static"]:
        assert f"\n  {name} " in done.stdout


@pytest.mark.parametrize(("kind", "meaning"), [("controller", "RTT that is put up with"), ("tuner", "Mean queue that")])
def test_options_of_a_new_plugin_are_explained(kind: str, meaning: str, tmp_path: Path) -> None:
    assert command("new", kind, "mine", cwd=tmp_path).returncode == 0
    options = json.loads(command("list", "./mine.py", "--format", "json", cwd=tmp_path).stdout)["options"]
    assert options[0]["meaning"].startswith(meaning)
    assert all(one["meaning"] for one in options)


def test_every_option_of_what_ships_is_explained() -> None:
    shipped = [plugin for kind in GROUPS for plugin in available(kind)]
    options = [
        (plugin.name, name, info) for plugin in shipped for name, info in plugin.form.Config.model_fields.items()
    ]
    assert [(plugin, name) for plugin, name, info in options if not info.description] == []


def test_list_of_one_plugin_explains_its_options() -> None:
    done = command("list", "swift")
    assert done.stdout.startswith("controller swift: ")
    assert re.search(r"^  htsim  +.*base_target: 20 us", done.stdout, re.MULTILINE)
    assert re.search(r"^  base_target  +12 us  +Target delay", done.stdout, re.MULTILINE)
    found = json.loads(command("list", "static", "--format", "json").stdout)
    assert (found["kind"], list(found["presets"])) == ("tuner", ["secn2", "secn1", "dctcp", "nscc"])
    assert {one["name"]: one["default"] for one in found["options"]}["kmin"] == "100 kB at 25 Gbit/s"
    wrong = command("list", "swft")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 'swift'" in wrong.stderr
