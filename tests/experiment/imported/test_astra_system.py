"""What of a system of ASTRA-sim is done otherwise here, and what is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from testbed.experiment.imported import astra_system
from testbed.experiment.imported.draft import Draft

FILE = """\
  {
  "scheduling-policy": "LIFO",
  "all-reduce-implementation": ["ring", "doubleBinaryTree"],
  "all-gather-implementation": ["ring", "ring"],
  "all-to-all-implementation": ["direct"],
  "local-mem-bw": 50
}
"""


def test_left_out(tmp_path: Path) -> None:
    (file := tmp_path / "system.json").write_text(FILE)
    assert astra_system.is_one(file)
    draft = Draft("x")
    astra_system.read(file).into(draft)
    assert draft.left_out == [
        'scheduling-policy ("LIFO")',
        "all-reduce-implementation (ring, doubleBinaryTree): ring here",
        "local-mem-bw (50)",
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"LIFO",', '"LIFO"', "line 3: expected a system of ASTRA-sim in JSON"),
        ("50", "{}", "local-mem-bw: expected a number, a name, or a list of them"),
        ('tation": ["direct"]', 'tation-custom": ["x"]', "all-to-all-implementation-custom: collectives of one's own"),
    ],
)
def test_bad_ones(old: str, new: str, says: str, tmp_path: Path) -> None:
    (file := tmp_path / "system.json").write_text(FILE.replace(old, new))
    with pytest.raises(ValueError, match=re.escape(says)):
        astra_system.read(file)
