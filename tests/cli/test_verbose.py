"""`--verbose`: on stderr, in lines that a person and a program can read; and nothing without it."""

from __future__ import annotations

import ast
import json
import logging
import re
from pathlib import Path

import pytest

from testbed.cli.verbose import STANDARD, KeyValues
from tests.support.checkout import ROOT
from tests.support.commands import command
from tests.support.runs import SHALLOW, UNDRAWN

LINE = re.compile(
    r"^\d\d:\d\d:\d\d\.\d{3} (?P<logger>testbed[a-z.]*): (?P<what>[a-z0-9 ]+?)(?P<fields>( [a-z_]+=.*)?)$"
)


def logged(text: str) -> dict[str, str]:
    """What happened, and the fields that it was last logged with."""
    return {found["what"]: found["fields"] for line in text.splitlines() if (found := LINE.match(line))}


@pytest.mark.parametrize(
    "arguments",
    [["--verbose", "run", "incast-8", "--dry-run"], ["run", "incast-8", "--dry-run", "-v"]],
    ids=["before the verb", "behind it"],
)
def test_a_dry_run(arguments: list[str]) -> None:
    done = command(*arguments, "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["name"] == "incast-8"
    lines = logged(done.stderr)
    assert len(done.stderr.splitlines()) == 4  # all of them are log lines: two plugins
    assert list(lines) == ["experiment read", "plugin loaded", "preflight passed"]
    assert "incast-8.yaml" in lines["experiment read"]
    assert re.search(r' kind=tuner plugin=static origin="cc-testbed .*" digest=[0-9a-f]{16}$', lines["plugin loaded"])
    assert lines["preflight passed"] == " experiment=incast-8 hosts=9 seed=1 controller=dcqcn tuner=static"


def test_silent_by_default() -> None:
    assert command("run", "incast-8", "--dry-run").stderr == ""


def test_a_refusal_says_where() -> None:
    done = command("--verbose", "run", "incst-8")
    assert done.returncode == 2
    *_, line, message = done.stderr.splitlines()
    assert re.search(r" testbed: refused error=BadInput raised_at=.*/experiment/load\.py:\d+$", line)
    assert message.startswith("testbed: no experiment is named 'incst-8'")


def test_values_that_need_quotes_have_them() -> None:
    fields = {"a": "two words", "b": 0.123456789, "c": "", "d": 'say "x"', "e": Path("/tmp/x"), "f": "k=v", "_ray": 1}
    record = logging.makeLogRecord({"name": "testbed.run", "msg": "done", **fields})
    assert KeyValues().format(record).partition(" testbed.run: ")[2] == (
        r'done a="two words" b=0.123457 c="" d="say \"x\"" e=/tmp/x f="k=v"'
    )


def test_no_field_has_a_name_that_logging_keeps_for_itself() -> None:
    """It would raise KeyError, but only with --verbose."""
    for file in (ROOT / "testbed").rglob("*.py"):
        text = file.read_text()
        if "logging" not in text or file.name == "verbose.py":
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Dict):
                names = {key.value for key in node.keys if isinstance(key, ast.Constant)}
                extra = "log.info" in text and names & (STANDARD - {"name", "args"})
                assert not extra, f"{file}:{node.lineno}: {extra}"


@pytest.mark.root
@pytest.mark.measures
def test_a_run(tmp_path: Path) -> None:
    """From the sandbox and its agents as well."""
    short = ("--duration", "400 us", *UNDRAWN, *SHALLOW)
    arguments = ("run", "incast-2", *short, "--metrics-addr", "none", "--format", "json")
    done = command("--verbose", *arguments, "--out", str(tmp_path / "out"))
    assert json.loads(done.stdout)["experiment"] == "incast-2"
    lines = logged(done.stderr)
    order = [
        "delays", "engine prepared", "sandbox made", "rack built", "programs attached", "tuner built", "calibrated",
        "calibration passed", "agent launched", "nominal time begins", "nominal time ends", "drained",
        "sandbox ended", "results written",
    ]  # fmt: skip
    assert [what for what in lines if what in order] == order
    assert {"agent ready"} < lines.keys()
    assert {"program from cache", "program compiled"} & lines.keys()
    assert re.search(r" by=(netem|delay-line) because=", lines["delays"])
    assert " hosts=3 switches=1 links=3 seconds=" in lines["rack built"]
    assert re.search(r" forwarding=bridge", lines["engine prepared"])
    assert " tuner=static instances=1" in lines["tuner built"]
    assert ' what=rate expected="100 Gbit/s" measured="' in done.stderr
    assert f" folder={tmp_path / 'out'} verdict=" in lines["results written"]
