"""Experiment files and --set: what is accepted, and what it comes to."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.load import Loaded, available, load, resolve
from tests.support.checkout import ROOT

INCASTS = ["incast-2", "incast-4", "incast-8", "incast-16", "incast-64", "incast-128", "incast-1024"]
SHIPPED = list(available())
POLICY = ROOT / "plugins" / "pet" / "policies" / "websearch.onnx"


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        (
            "traffic.sender=8",
            "--set traffic.sender=8: traffic.sender: no such key with pattern 'incast'; did you mean 'senders'?",
        ),
        ("traffic.senders", "expected key=value, for example --set traffic.senders=8"),
        ("=8", "expected key=value"),
        ("time.duration=10", "--set time.duration=10: time.duration: 10 has no unit"),
        ("time.duration=a: b: c", "not valid YAML"),
        ("traffic.flows.3.size=1 MB", "traffic.flows: expected a whole number, got keys below it"),
        ("controller.rat=1", "controller 'dcqcn' has no option 'rat'"),
        ("rack.link.x.y=1", "--set rack.link.x.y=1: rack.link.x: no such key"),
    ],
)
def test_wrong_override_names_itself(setting: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        resolve(load("incast-8").apply([setting]))
    assert says in str(caught.value)


def overridden(*settings: str) -> Loaded:
    return load("incast-8").apply(settings)


def test_override_of_any_key() -> None:
    experiment = overridden(
        "traffic.senders=3", "traffic.size=1 MB", "rack.link.delay=1 us", "seed=7", "time.duration=6ms"
    ).experiment
    assert len(experiment.plan) == 3
    assert experiment.plan.size[0] == 1e6
    assert experiment.hosts == 4
    assert experiment.rack.link.delay == pytest.approx(1e-6)
    assert experiment.seed == 7
    assert experiment.time.warmup == pytest.approx(2e-3)


def test_later_override_wins_and_the_file_stays_as_it_was() -> None:
    loaded = load("incast-8")
    assert loaded.apply(["seed=2", "seed=3"]).experiment.seed == 3
    assert loaded.experiment.seed == 1


def test_off_needs_no_quotes() -> None:
    assert load("incast-2").apply(["rack.calibrate=off"]).experiment.rack.calibrate == "off"


def test_null_makes_a_flow_endless() -> None:
    assert overridden("traffic.size=null").experiment.plan.size[0] == math.inf


def test_option_of_a_plain_controller_name() -> None:
    loaded = load("incast-8").choose("controller", "swift", "--controller")
    assert loaded.experiment.controller.options == {}  # the options of the file's dcqcn are gone
    choice = loaded.apply(["controller.beta=0.5"]).experiment.controller
    assert (choice.name, choice.options) == ("swift", {"beta": 0.5})


def test_entry_of_a_flow_list(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(
        "traffic:\n  pattern: flows\n  flows:\n    - {src: h1, dst: h3}\n    - {src: h2, dst: h3, start: 1 ms}\n"
        "controller: fixed\n"
    )
    loaded = load(str(file)).apply(["traffic.flows.1.size=2 MB"])
    assert loaded.experiment.plan.size.tolist() == [math.inf, 2e6]
    assert loaded.experiment.name == "two"
    assert loaded.experiment.hosts == 3
    with pytest.raises(BadInput, match="the list has 2 entries"):
        loaded.apply(["traffic.flows.2.size=2 MB"])


def test_plugin_path_in_a_file_is_relative_to_the_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("traffic: {pattern: incast, senders: 2}\ncontroller: ./my_cc.py:Mine\n")
    assert load(str(file)).experiment.controller.name == f"{tmp_path}/my_cc.py:Mine"


def test_a_policy_is_relative_to_where_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        shutil.copy(POLICY, folder / "mine.onnx")
    file = there / "mine.yaml"
    file.write_text(
        "traffic: {pattern: incast, senders: 2}\ncontroller: dcqcn\ntuner: {name: pet, policy: mine.onnx}\n"
    )
    monkeypatch.chdir(here)
    loaded = load(str(file))
    assert [one.file for one in resolve(loaded).inputs()] == [there / "mine.onnx"]
    assert [one.file for one in resolve(loaded.apply(["tuner.policy=mine.onnx"])).inputs()] == [here / "mine.onnx"]
    (there / "mine.onnx").unlink()
    with pytest.raises(BadInput, match=f"mine.yaml, line 3: .*{there}/mine.onnx"):
        resolve(load(str(file)))


def test_shipped_experiments_are_found() -> None:
    assert {*INCASTS, "dumbbell", "leaf-spine", "pet-288"} <= set(SHIPPED)
    assert [name for name in SHIPPED if name in INCASTS] == INCASTS  # by their numbers


@pytest.mark.parametrize("name", INCASTS)
def test_shipped_incast(name: str) -> None:
    resolved = resolve(load(name))
    experiment = resolved.experiment
    assert len(experiment.plan) == int(name.split("-")[1])
    assert experiment.rack.link.rate == 100e9
    assert 4 * experiment.rack.link.delay == pytest.approx(8e-6)
    assert experiment.buffer == 5e6
    assert experiment.traffic.payload == 1000
    assert experiment.description
    assert experiment.name == name


def test_incast_64_takes_20_to_40_seconds() -> None:
    time = load("incast-64").experiment.time
    assert 20 <= time.duration * time.dilation <= 40
