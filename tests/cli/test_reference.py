"""docs/reference/cli.md is what the command line says of itself."""

from __future__ import annotations

from testbed.cli import help as told
from testbed.cli import reference
from testbed.cli.main import commands


def test_the_page_is_current() -> None:
    assert reference.FILE.read_text(encoding="utf-8") == reference.text(), "run: make schema"


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
