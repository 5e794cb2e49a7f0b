"""A controller named beside an experiment: what stays of the file's choice, and what comes with the controller."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.load import load
from testbed.experiment.resolved import Resolved
from testbed.runs.overrides import resolve


def chosen(controller: str, *settings: str, tuner: str = "", experiment: str = "incast-8") -> Resolved:
    return resolve(experiment, {"controller": controller, "tuner": tuner}, {}, [*settings, "engine=virtual"])


def preset(resolved: Resolved) -> str | None:
    return resolved.experiment.tuner.preset


def test_the_controller_that_the_file_has_keeps_the_files_options() -> None:
    by_name, as_it_is = chosen("dcqcn"), chosen("")
    assert by_name.controller_config == as_it_is.controller_config
    assert by_name.as_dict() == as_it_is.as_dict()
    assert by_name.told == "controller dcqcn as in the experiment, preset: paper, window: bdp"
    assert as_it_is.told == ""


@pytest.mark.parametrize("controller", ["dctcp", "nscc"])
def test_another_controller_brings_its_thresholds(controller: str) -> None:
    found = chosen(controller)
    assert preset(found) == controller
    assert found.told == (
        f"controller {controller} replaces dcqcn and its options (preset: paper, window: bdp); "
        f"it brings tuner.preset={controller}"
    )


def test_one_that_needs_nothing_of_switches_leaves_them_as_they_are() -> None:
    assert chosen("swift").experiment.tuner == chosen("").experiment.tuner
    assert "INT in every packet" in chosen("hpcc").told


@pytest.mark.parametrize(
    ("tuner", "settings", "stays"),
    [
        ("static", [], "static"),
        ("", ["tuner.preset=secn1"], "static, preset: secn1"),
        ("acc", [], "acc"),
    ],
)
def test_a_tuner_or_preset_that_was_named_stays(tuner: str, settings: list[str], stays: str) -> None:
    found = chosen("dctcp", *settings, tuner=tuner)
    assert preset(found) != "dctcp"
    assert found.told.endswith(f"it is made for tuner.preset=dctcp, but the tuner stays: {stays}")


def test_a_threshold_that_was_written_stands_on_the_brought_preset() -> None:
    found = chosen("dctcp", "tuner.kmin=10 kB", "tuner.kmax=10 kB")
    assert preset(found) == "dctcp"
    assert found.experiment.tuner.options == {"kmin": "10 kB", "kmax": "10 kB"}


def test_a_file_that_names_a_controller_but_no_tuner_has_its_thresholds(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("traffic: {pattern: incast, senders: 2}\ncontroller: dctcp\n")
    assert preset(chosen("", experiment=str(file))) == "dctcp"
    file.write_text("traffic: {pattern: incast, senders: 2}\ncontroller: dctcp\ntuner: {preset: secn2}\n")
    assert preset(chosen("", experiment=str(file))) == "secn2"


def test_a_setting_for_one_controller() -> None:
    assert chosen("swift", "controller[swift].preset=htsim").experiment.controller.preset == "htsim"
    with pytest.raises(BadInput, match=r"controller\[hpcc\].eta=0.9: the controller is dcqcn, not hpcc"):
        load("incast-8").apply(["controller[hpcc].eta=0.9"])


def test_a_path_is_the_same_from_wherever_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_cc.py").write_text(Path("controllers/fixed.py").read_text())
    file = tmp_path / "mine.yaml"
    file.write_text("traffic: {pattern: incast, senders: 2}\ncontroller: {name: ./my_cc.py, rate: 10 %}\n")
    monkeypatch.chdir(tmp_path)
    assert chosen("./my_cc.py", experiment=str(file)).told == "controller ./my_cc.py as in the experiment, rate: 10 %"
