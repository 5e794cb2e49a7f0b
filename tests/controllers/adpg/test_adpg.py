"""A policy file that cannot be used is refused with one message, before anything is built."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from testbed_controllers import adpg

from tests.support.commands import command

POLICIES = Path(adpg.__file__).with_name("policies")
SHIPPED = {"adpg": "trees.json", "adpg-int8": "int8.json"}


def _version(content: dict[str, Any]) -> None:
    content["version"] = 99


def _not_a_number(content: dict[str, Any]) -> None:
    content["leaves" if "leaves" in content else "scales"][0] = float("nan")
    if "leaves" in content:
        content["leaves"] = [[float("nan")] * 16] * 20


def _shape(content: dict[str, Any]) -> None:
    key = "leaves" if "leaves" in content else "layers"
    content[key] = content[key][:-1]


def _no_key(content: dict[str, Any]) -> None:
    del content["leaves" if "leaves" in content else "scales"]


def refused(controller: str, policy: Path, says: str) -> None:
    settings = ["--set", f"controller.policy={policy}"]
    done = command("run", "incast-2", "--controller", controller, *settings, "--dry-run", cwd=policy.parent)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert str(policy) in done.stderr


@pytest.mark.parametrize("controller", SHIPPED)
@pytest.mark.parametrize(
    ("damage", "says"),
    [(_version, "version 99"), (_not_a_number, "numbers"), (_shape, "expected"), (_no_key, "damaged")],
)
def test_damaged(controller: str, damage: Callable[[dict[str, Any]], None], says: str, tmp_path: Path) -> None:
    content = json.loads((POLICIES / SHIPPED[controller]).read_text())
    damage(content)
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(content))
    refused(controller, policy, says)


@pytest.mark.parametrize(
    ("controller", "policy", "hint"),
    [
        ("adpg", "network.json", "network.json' makes the trees that adpg runs; adpg-nn"),
        ("adpg", "int8.json", "the controller adpg-int8 runs it"),
        ("adpg-int8", "trees.json", "the controller adpg runs it"),
        ("adpg-nn", "network.json", "adpg-nn runs the network.onnx that 'testbed train adpg' writes"),
    ],
)
def test_a_policy_of_another_form_is_told_what_runs_it(controller: str, policy: str, hint: str, tmp_path: Path) -> None:
    copy = tmp_path / policy
    copy.write_bytes((POLICIES / policy).read_bytes())
    refused(controller, copy, hint)


@pytest.mark.parametrize("controller", ["adpg", "adpg-nn", "adpg-int8"])
def test_missing_cut_short_or_of_another_form(controller: str, tmp_path: Path) -> None:
    refused(controller, tmp_path / "none", "no policy file")
    shipped = POLICIES / SHIPPED.get(controller, "network.onnx")
    cut = tmp_path / "cut"
    cut.write_bytes(shipped.read_bytes()[:200])
    refused(controller, cut, "not an ONNX network" if controller == "adpg-nn" else "cut short")
    other = tmp_path / "other"
    other.write_bytes((POLICIES / "network.json").read_bytes())
    refused(controller, other, "not an ONNX network" if controller == "adpg-nn" else "format 'adpg-network'")
