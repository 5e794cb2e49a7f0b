"""Where each value of an experiment was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.document import Document

TEXT = """\
traffic:
  pattern: flows
  flows:
    - {src: h1, dst: h2}
controller: swift
"""


def parsed(text: str = TEXT) -> Document:
    return Document.parse(text, "mine.yaml")


def test_keys_know_their_line_and_missing_ones_that_of_the_nearest() -> None:
    document = parsed()
    assert document.origin(("traffic", "flows", 0, "dst")) == "mine.yaml, line 4"
    assert document.origin(("traffic", "flows", 0, "size")) == "mine.yaml, line 4"
    assert document.origin(("controller", "name")) == "mine.yaml, line 5"
    assert document.origin(("rack",)) == "mine.yaml, line 1"


def test_an_option_makes_a_block_of_a_name() -> None:
    document = parsed()
    document.put(("controller", "beta"), 0.5, "--set controller.beta=0.5")
    assert document.data["controller"] == {"name": "swift", "beta": 0.5}
    assert document.origin(("controller", "beta")) == "--set controller.beta=0.5"


def test_an_option_has_not_written_the_other_keys_of_its_section() -> None:
    """Which are at their defaults: what is wrong with them is a matter of the file."""
    document = parsed()
    document.put(("record", "report"), False, "--set record.report=false")
    assert document.origin(("record", "report")) == "--set record.report=false"
    assert document.origin(("record",)) == "--set record.report=false"
    assert document.origin(("record", "interval")) == "mine.yaml, line 1"
    document.put(("record",), {"flows": 8}, "--set record={flows: 8}")
    assert document.origin(("record", "interval")) == "--set record={flows: 8}"


def test_paths_start_where_they_were_given(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT)
    document = Document.read(file)
    document.put(("tuner", "policy"), "mine.onnx", "--set")
    assert document.base(("controller", "policy")) == tmp_path
    assert document.base(("tuner", "policy")) == Path()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2\n", "mine.yaml, line 2: a: given twice; first at mine.yaml, line 1"),
        ("- a\n", "mine.yaml, line 1: expected an experiment"),
        ("a: &a {b: *a}\n", "mine.yaml, line 1: not valid YAML|nested too deeply"),
        ("a: [1\n", "mine.yaml, line 2: not valid YAML"),
    ],
)
def test_what_is_no_document_is_told_with_its_line(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        parsed(text)
