"""The JSON schema: current, and of one mind with the loader."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from scripts.reference import schema
from testbed.experiment.load import available, load, resolve

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

ERRORS = Path(__file__).parent / "errors"
SHIPPED = list(available())


@pytest.mark.parametrize("name", SHIPPED)
def test_schema_accepts_shipped_files(name: str) -> None:
    file = available()[name]
    assert complaints(yaml.safe_load(file.read_text())) == []
    assert complaints(resolve(load(name)).as_dict()) == []
    first = file.read_text().splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    assert (file.parent / first.partition("$schema=")[2]).resolve() == schema.FILE.resolve()


@pytest.mark.parametrize(
    "case", ["unknown-key-top", "unknown-pattern", "no-controller", "senders-text", "rate-no-unit"]
)
def test_schema_refuses_what_the_loader_refuses(case: str) -> None:
    assert complaints(yaml.safe_load((ERRORS / f"{case}.yaml").read_text()))


def complaints(data: Any) -> list[str]:
    return [error.message for error in validator().iter_errors(data)]


@cache
def validator() -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # two seconds, in each process that collects tests

    return Draft202012Validator(schema.schema())
