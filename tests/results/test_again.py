"""What differs between a result and what is about to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.experiment.load import recorded, resolve
from testbed.results.again import differences
from testbed.results.folder import load_manifest
from tests.support.folders import results


@pytest.mark.parametrize(
    ("experiment", "controller"), [("websearch", "adpg"), ("leaf-spine", "hpcc"), ("incast-64-lossless", "adpg-nn")]
)
def test_what_a_result_holds_loads_again_as_it_was(tmp_path: Path, experiment: str, controller: str) -> None:
    manifest = load_manifest(results(tmp_path / "run", controller, experiment=experiment))
    assert (
        differences(
            manifest, manifest.experiment, resolve(recorded(manifest.experiment, "run", lambda _plugins, _apps: None))
        )
        == []
    )


def test_every_part_is_compared(tmp_path: Path) -> None:
    manifest = load_manifest(results(tmp_path / "run", "adpg"))
    other = manifest.model_copy(
        update={
            "controller": manifest.controller.model_copy(update={"sha256": "0" * 64}),
            "inputs": [one.model_copy(update={"sha256": "1" * 64}) for one in manifest.inputs],
            "versions": manifest.versions | {"kernel": "2.6", "numba": "0.1"},
            "machine": manifest.machine.model_copy(update={"cores": 999}),
        }
    )
    again = resolve(recorded(manifest.experiment, "run", lambda _plugins, _apps: None).apply(["traffic.senders=4"]))
    said = "\n".join(differences(other, other.experiment, again))
    for part in (
        "code of adpg (",
        f"SHA-256 was {'0' * 12} and is ",
        f"content of controller.policy was {'1' * 12} and is ",
        "kernel was 2.6 and is ",
        "numba was 0.1 and is ",
        "machine: cores was 999 and is ",
        "traffic.senders was 8 and is 4",
    ):
        assert part in said


def test_a_dilation_that_was_measured_may_be_measured_again(tmp_path: Path) -> None:
    measured = {"speed": {"dilation": 500}}
    manifest = load_manifest(results(tmp_path / "run", "dcqcn", 1, "time.dilation=500", manifest=measured))
    assert (
        differences(
            manifest,
            manifest.experiment,
            resolve(recorded(manifest.experiment, "run", lambda _plugins, _apps: None).apply(["time.dilation=auto"])),
        )
        == []
    )
