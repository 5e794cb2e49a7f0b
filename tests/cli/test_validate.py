"""`testbed validate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import command


def test_invalid_file_in_json(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("traffic: {pattern: incast, senders: 0}\n")
    done = command("validate", str(file), "--format", "json")
    assert done.returncode == 2
    answer = json.loads(done.stdout)
    assert answer["valid"] is False
    assert len(answer["problems"]) == 2


LARGE = """
rack: {hosts: 1025}
traffic: {pattern: incast, senders: 1024}
controller: swift
time: {duration: 100 us}
"""


@pytest.mark.parametrize(
    "verb",
    [("validate",), ("show",), ("run", "--dry-run"), ("sweep", "--dry-run")],
)
def test_options_count_before_anything_is_checked(verb: tuple[str, ...], tmp_path: Path) -> None:
    """A rack that is too large for the kernel engine, in a file that names none."""
    file = tmp_path / "large.yaml"
    file.write_text(LARGE)
    refused = command(verb[0], str(file), *verb[1:])
    assert refused.returncode == 2
    assert "at most 1,023 are possible with engine 'kernel'; say --engine virtual" in refused.stderr
    for said in (("--engine", "virtual"), ("--set", "engine=virtual")):
        assert command(verb[0], str(file), *verb[1:], *said).returncode == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--duration", "10xs"), "--duration 10xs: time.duration: '10xs' has unknown unit 'xs'"),
        (("--seed", "2", "--set", "seed=x"), ""),  # the option wins
        (("--controller", "swif"), "--controller swif: controller.name: no controller 'swif' is installed"),
        (("--engine", "fluid"), "rack.kind: the fluid model knows 'star' only, got 'leaf-spine'"),  # as `run` says it
        (("--tuner", "pet", "--engine", "virtual", "--set", "rack.delay_by=netem"), "no meaning with engine 'virtual'"),
    ],
)
def test_it_checks_what_run_would_run(options: tuple[str, ...], said: str) -> None:
    done = command("validate", "leaf-spine", *options)
    assert done.returncode == (2 if said else 0), done.stderr
    assert said in done.stderr
