"""How `--help` tells of a command. docs/reference/cli.md is written from the same pieces (`testbed.cli.reference`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from typer.core import TyperCommand, TyperGroup

TYPED = ("testbed ", "sudo testbed ")


class Row(NamedTuple):
    """An argument or an option."""

    name: str
    values: str
    meaning: str
    default: str = ""


def paragraphs(command: Any) -> list[str]:
    """What a command does: its docstring, of which the first paragraph is one sentence or two."""
    return [one for one in (command.help or "").rstrip().split("\n\n") if one]


def examples(paragraph: str) -> list[str]:
    """Commands to type, if it is those; Python takes the indentation of a docstring's last paragraph."""
    lines = [line.strip() for line in paragraph.splitlines()]
    return lines if lines[0].startswith(TYPED) else []


def summary(command: Any) -> str:
    """The first of them."""
    return " ".join(paragraphs(command)[0].split())


def usage(command: Any) -> str:
    """What follows the command's name."""
    names = [_argument(one) for one in command.params if one.param_type_name == "argument"]
    behind = "COMMAND ..." if hasattr(command, "commands") else "[OPTIONS]" if options(command) else ""
    return " ".join([*names, behind]).strip()


def arguments(command: Any) -> list[Row]:
    """With what they mean."""
    found = [one for one in command.params if one.param_type_name == "argument"]
    return [Row(_argument(one), "", one.help or "") for one in found]


def options(command: Any) -> list[Row]:
    """Without `--help`."""
    found = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    return [
        Row(", ".join([*one.opts, *one.secondary_opts]), _values(one), _meaning(one), _default(one)) for one in found
    ]


def by_purpose(group: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The commands of a group, under the headings that they were registered with."""
    headings = list(dict.fromkeys(str(one.rich_help_panel) for one in group.commands.values()))
    ordered = sorted(group.commands.items(), key=lambda one: headings.index(str(one[1].rich_help_panel)))
    for heading, found in groupby(ordered, lambda one: str(one[1].rich_help_panel)):
        yield (heading if len(headings) > 1 else "Commands"), dict(found)


def _argument(one: Any) -> str:
    return str(one.metavar or one.name.upper())


def _values(one: Any) -> str:
    return "" if one.is_flag else str(one.metavar or "")


def _meaning(one: Any) -> str:
    return f"{one.help}{' Required.' * one.required}"


def _default(one: Any) -> str:
    unsaid = one.default in (None, "", False) or (one.is_flag and not one.secondary_opts)
    return "" if unsaid or one.required else str(one.opts[0] if one.is_flag else one.default)


def _told(row: Row) -> str:
    return f"{row.meaning} By default {row.default}." if row.default else row.meaning


def _write(command: Any, ctx: Any, formatter: Any) -> None:
    formatter.write_usage(ctx.command_path, usage(command))
    with formatter.indentation():
        for one in paragraphs(command):
            formatter.write_paragraph()
            formatter.write("".join(f"    {line}\n" for line in examples(one)))
            if not examples(one):
                formatter.write_text(one)
    for heading, rows in (("Arguments", arguments(command)), ("Options", options(command))):
        if rows:
            with formatter.section(heading):
                formatter.write_dl([(f"{one.name} {one.values}".strip(), _told(one)) for one in rows])


class Command(TyperCommand):
    """A verb."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _write(self, ctx, formatter)


class Group(TyperGroup):
    """Several verbs."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _write(self, ctx, formatter)
        for heading, found in by_purpose(self):
            with formatter.section(heading):
                formatter.write_dl([(name, summary(one)) for name, one in found.items()])
        self.format_epilog(ctx, formatter)
