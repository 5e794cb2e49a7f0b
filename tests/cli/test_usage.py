"""What is wrong with a command line, in one line."""

from __future__ import annotations

import pytest

from tests.support.commands import command


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "run incast-8 --engine virtul",
            "--engine virtul: there is no such choice; did you mean 'virtual'? (allowed: ",
        ),
        ("run incast-8 --seed -1", "--seed: must be at least 0"),
        ("sweep incast-8 --repeat 0", "--repeat: must be at least 1"),
        ("crosscheck incast-8 --seeds many", "--seeds: expected a whole number"),
        ("run incast-8 --sed 3", "--seed"),
        ("run", "testbed run --help lists what there is"),
        ("rum", "'rum'"),
        ("list statc", "no plugin 'statc' is installed; did you mean 'static'?"),
        ("coexist hpcc,swft", "no controller 'swft' is installed; did you mean 'swift'?"),
        ("validate incast-8 --set tuner.pmax=120%", "option 'pmax': must be at most 1, got 1.2"),
        ("validate incast-8 --set traffic.pattern=poisson", "traffic.senders: no such key with pattern 'poisson'"),
        ("validate /nowhere/x.yaml", "does not exist: there is no folder /nowhere"),
    ],
)
def test_it_is_one_line_that_names_the_thing(arguments: str, said: str) -> None:
    done = command(*arguments.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("testbed: ")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_group_of_which_nothing_was_said_prints_its_help() -> None:
    done = command("lab")
    assert done.returncode == 2
    assert "rollouts" in done.stdout
