"""What a shell is told when it asks for the rest of a word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.commands import command
from tests.support.folders import results


@pytest.fixture(params=["bash", "zsh", "fish"])
def complete(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Complete:
    return Complete(request.param, monkeypatch)


class Complete:
    """The suggestions for the last word of a line. Bash breaks words at =, and is told how the last part goes on."""

    def __init__(self, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shell, self.monkeypatch = shell, monkeypatch

    def __call__(self, line: str) -> list[str]:
        parts = [part for word in line.split(" ") for part in (re.findall("=|[^=]+", word) or [""])]
        asked = {
            "_TESTBED_COMPLETE": f"complete_{self.shell}",
            "COMP_WORDS": "\n".join(parts),
            "COMP_CWORD": str(len(parts) - 1),
            "_TYPER_COMPLETE_ARGS": line,
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
        for name, value in asked.items():
            self.monkeypatch.setenv(name, value)
        done = command()
        assert done.stderr == ""
        if self.shell == "bash":
            before, equals, _ = line.rsplit(" ", maxsplit=1)[-1].rpartition("=")
            return [before + equals + one for one in done.stdout.splitlines() if one]
        if self.shell == "fish":
            return [one for one in done.stdout.splitlines() if one]
        quoted = done.stdout.split('"')[1::2]  # _arguments '*: :(("dcqcn" "decc"))'
        return [one.replace("\\\\", "").removesuffix("\\") for one in quoted]


def test_experiments(complete: Complete) -> None:
    for verb in ("run", "sweep", "show", "validate"):
        assert complete(f"testbed {verb} leaf") == ["leaf-spine"]
    assert "incast-8" in complete("testbed run ")
    assert complete("testbed run ./mine") == []  # files are the shell's


def test_plugins(complete: Complete) -> None:
    assert complete("testbed run incast-8 --controller dcq") == ["dcqcn"]
    assert complete("testbed run incast-8 --tuner pe") == ["pet"]
    assert complete("testbed sweep incast-8 --controller hpcc,sw") == ["hpcc,swift"]
    assert complete("testbed list s") == ["spine", "swift", "schedule", "static"]
    assert complete("testbed check acc") == ["acc"]
    assert complete("testbed replay folder --controller fi") == ["fixed"]


def test_the_keys_of_set_are_those_of_the_experiment_and_its_plugins(complete: Complete, tmp_path: Path) -> None:
    keys = complete("testbed run incast-8 --set ")
    assert {"traffic.senders=", "rack.link.rate=", "time.dilation=", "controller.alpha_period=", "seed="} <= set(keys)
    assert complete("testbed show incast-8 --set traffic.sen") == ["traffic.senders="]
    assert "controller.eta=" in complete("testbed run incast-8 --controller hpcc --set controller.")
    assert "tuner.slot=" in complete("testbed sweep incast-8 --tuner pet,acc --set tuner.")
    sweep = "testbed sweep incast-8 --controller dcqcn,swift --set "
    assert complete(f"{sweep}controller[dcqcn].win") == ["controller[dcqcn].window="]
    assert "controller[swift].base_target=" in complete(f"{sweep}controller[swift].")
    held = results(tmp_path / "run", "swift")
    assert "controller.base_target=" in complete(f"testbed rerun {held} --set controller.")
    assert complete("testbed train pet --set see") == ["seed="]
    assert complete("testbed run nonsense --set ") == complete("testbed run --set ") == []


def test_values_of_set_are_plugins_and_presets(complete: Complete) -> None:
    assert complete("testbed run incast-8 --set controller=sw") == ["controller=swift"]
    assert complete("testbed run incast-8 --set tuner.name=ac") == ["tuner.name=acc"]
    assert complete("testbed run incast-8 --controller dcqcn --set controller.preset=n") == ["controller.preset=nic"]
    assert complete("testbed run incast-8 --set traffic.senders=") == []


def test_every_shell_completes_behind_an_equals_sign(complete: Complete) -> None:
    assert complete("testbed run incast-8 --controller=dcq") == ["--controller=dcqcn"]
    assert "--tuner=pet" in complete("testbed run incast-8 --tuner=")
    assert complete("testbed run incast-8 --set=tuner.name=ac") == ["--set=tuner.name=acc"]
    assert "controller.eta=" in complete("testbed run incast-8 --controller=hpcc --set seed=2 --set controller.")
    assert complete("testbed sweep incast-8 --controller=hpcc,sw") == ["--controller=hpcc,swift"]
    assert complete("testbed run incast-8 --set=traffic.sen") == ["--set=traffic.senders="]
    assert complete("testbed run incast-8 --set controller=dcq") == ["controller=dcqcn"]
    assert complete("testbed coexist dcqcn,swift --experiment=leaf") == ["--experiment=leaf-spine"]


def test_options_with_a_few_values_complete_too(complete: Complete) -> None:
    assert complete("testbed run incast-8 --engine=v") == ["--engine=virtual"]
    assert complete("testbed run incast-8 --engine ") == ["kernel", "virtual", "live", "fluid"]
    assert complete("testbed show incast-8 --format=") == ["--format=text", "--format=json"]
    assert complete("testbed reproduce --format m") == ["markdown"]
