"""An experiment that names a switch's own configuration."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
import yaml

from testbed.errors import BadInput
from testbed.experiment.load import Loaded, load
from tests.support.checkout import ROOT

CONFIG = ROOT / "tests/experiment/topology/sonic/switch.json"
EXPERIMENT = {"traffic": {"pattern": "incast", "senders": 2}, "controller": "dcqcn", "engine": "virtual"}


def loaded(folder: Path, switch: dict[str, Any], **rack: Any) -> Loaded:
    copy(CONFIG, folder)
    file = folder / "e.yaml"
    file.write_text(yaml.safe_dump({**EXPERIMENT, "rack": {"switch": switch, **rack}}))
    return load(str(file))


def test_its_keys_are_the_experiments(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"config": "switch.json"}).configured()
    rack = found.experiment.rack
    assert rack.switch.config is None
    assert (rack.link.rate, rack.link.delay) == (100e9, 200e-9)
    assert rack.switch.queues[4].weight == 15
    assert rack.switch.groups[3].headroom == 90e3
    assert rack.switch.pool is not None
    assert rack.switch.pool.size == 12e6
    assert found.configuration[0].startswith(f"{tmp_path / 'switch.json'}: took DSCP_TO_TC_MAP, ")


def test_what_the_experiment_says_holds(tmp_path: Path) -> None:
    own = {
        "queues": {3: {"weight": 7}, 4: {"schedule": "strict"}, "0": {"static": "9 kB"}},
        "groups": {3: {"pfc": "off"}},
        "watchdog": None,
    }
    found = loaded(tmp_path, {"config": "switch.json", **own}, link={"rate": "400 Gbit/s"})
    rack = found.experiment.rack
    assert (rack.link.rate, rack.link.delay) == (400e9, 200e-9)
    assert [rack.switch.queues[one].schedule for one in (3, 4)] == ["dwrr", "strict"]
    assert [rack.switch.queues[one].weight for one in (3, 4)] == [7, 1]
    assert rack.switch.queues[3].wred  # the file's
    assert (rack.switch.queues[0].static, rack.switch.queues[0].alpha) == (9e3, None)
    assert (rack.switch.groups[3].pfc, rack.switch.groups[3].alpha) == (False, 0.125)
    assert rack.switch.watchdog is None


@pytest.mark.parametrize("own", [{}, {"pool": {"size": "9 MB"}}])
def test_shares_of_a_pool_that_the_switch_computes_wait_for_its_size(tmp_path: Path, own: dict[str, Any]) -> None:
    found = loaded(tmp_path, {"config": "switch.json", **own})
    tables = json.loads((tmp_path / "switch.json").read_text())
    for pool in tables["BUFFER_POOL"].values():
        del pool["size"]
    (tmp_path / "switch.json").write_text(json.dumps(tables))
    found = found.configured()
    switch = found.experiment.rack.switch
    assert switch.groups[3].alpha == (0.125 if own else None)
    assert switch.groups[3].headroom == 90e3
    assert ("no size of a pool is known" in found.configuration[-1]) == (not own)


def test_an_empty_block_leaves_the_files_out(tmp_path: Path) -> None:
    switch = loaded(tmp_path, {"config": "switch.json", "pool": None, "groups": {}}).experiment.rack.switch
    assert (switch.pool, switch.groups) == (None, {})
    assert {one.alpha for one in switch.queues.values()} == {None}


def test_classes_of_ones_own_replace_all_of_the_files(tmp_path: Path) -> None:
    every = {"bulk": {"dscp": "0-63", "queue": 0}}
    with pytest.raises(BadInput, match=r"rack\.switch\.queues\.3: no class uses this queue"):
        _ = loaded(tmp_path, {"config": "switch.json", "classes": every}).experiment


def test_a_mistake_in_it_names_both_files(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"config": "switch.json"})
    (tmp_path / "switch.json").write_text('{"SCHEDULER": {"s": {"weight": "x"}}}')
    with pytest.raises(BadInput) as raised:
        _ = found.experiment
    assert str(raised.value) == (
        f"{tmp_path}/e.yaml, line 5: rack.switch.config: {tmp_path}/switch.json: SCHEDULER|s: weight: expected a whole "
        "number, got 'x'"
    )


def test_what_the_file_makes_impossible_names_the_file(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"config": "switch.json", "pfc": "on"})
    with pytest.raises(BadInput, match=r"rack\.switch\.pfc: is for ports of one queue"):
        _ = found.experiment


def test_an_option_names_another_file(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"config": "switch.json"}).apply(["rack.switch.config=none.json"])
    with pytest.raises(BadInput, match=r"--set rack\.switch\.config=none\.json: rack\.switch\.config: cannot read /"):
        _ = found.experiment


def test_a_file_alone_has_no_keys_that_are_read(tmp_path: Path) -> None:
    from testbed.experiment.model import Experiment

    with pytest.raises(ValueError, match="is read as an experiment is loaded"):
        Experiment.model_validate({**EXPERIMENT, "rack": {"switch": {"config": str(tmp_path)}}})
