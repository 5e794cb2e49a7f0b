"""`--help`, which reads as the page does: plain text, and an example to copy."""

from __future__ import annotations

import pytest

from testbed.cli import help as told
from testbed.cli.main import commands


def test_help_of_a_command_has_its_example_as_it_is_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    commands()(["switch", "set", "-h"], prog_name="testbed", standalone_mode=False)
    said = capsys.readouterr().out
    assert said.startswith("Usage: testbed switch set [PORT]... [OPTIONS]\n")
    assert '    sudo testbed switch set swp1 --kmin "100 kB" --kmax "400 kB" --pmax "20 %"\n' in said  # never wrapped
    assert "--kmin SIZE" in said
    assert max(map(len, said.replace("sudo", "").splitlines())) <= 80


def test_every_command_says_what_it_does_how_it_is_typed_and_what_its_options_take() -> None:
    for _, verbs in told.by_purpose(commands()):
        for name, verb in verbs.items():
            for one in getattr(verb, "commands", {"": verb}).values():
                assert name == "version" or told.examples(told.paragraphs(one)[1]), name
                assert all(row.meaning.endswith((".", ")", "?")) for row in told.options(one) + told.arguments(one)), (
                    name
                )
                values = {p.opts[0]: p.is_flag or p.metavar for p in one.params if p.param_type_name == "option"}
                assert all(values.values()), values
