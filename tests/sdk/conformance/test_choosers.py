"""Path choosers that are broken fail for the right reason."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

from testbed.registry import CHOOSER
from testbed.sdk.conformance.controllers import Result
from tests.sdk.conformance.broken import checked, line_of

COMPILES, VALID = "machine code decides as Python does", "every packet has a valid entropy"
SAME, SPREADS, SURVIVES = "same seed, same entropies", "uses the paths there are", "survives a path that fails"


def of_chooser(folder: Path, body: str, only: str | None = None, head: str = "") -> dict[str, Result]:
    text = dedent(head) + 'from testbed.chooser import PathChooser\nclass Broken(PathChooser):\n    name = "broken"\n'
    return checked(CHOOSER, folder, text + indent(dedent(body), "    "), only)


def test_one_path_for_ever_is_not_what_a_chooser_is_for(tmp_path: Path) -> None:
    """Four flows hashed to four uplinks use 2.7 of them on average: 4 (1 - (3/4)^4)."""
    result = of_chooser(tmp_path, "entropy: int = 7", SPREADS)[SPREADS]
    assert not result.passed
    assert "at least 95 % is expected" in result.why


def test_who_never_leaves_the_path_that_failed_is_found(tmp_path: Path) -> None:
    """All flows of a leaf take to the path that failed, and stay there: a quarter of what they send, at best."""
    body = """
    stuck: bool
    def on_send(self, now):
        if not self.stuck:
            self.entropy = self.draw(16384)
    def on_timeout(self, now, entropy):
        self.stuck = True
        self.entropy = entropy
    """
    result = of_chooser(tmp_path, body, SURVIVES)[SURVIVES]
    assert not result.passed
    assert "at least 75 % is expected" in result.why


def test_an_entropy_must_be_one(tmp_path: Path) -> None:
    results = of_chooser(tmp_path, "def on_send(self, now):\n    self.entropy = 16384")
    line = line_of(tmp_path, "self.entropy")
    expected = f"path chooser 'broken' ({tmp_path / 'broken.py'}, line {line}): set entropy 16384; expected 0 to 16383"
    assert expected in results[VALID].why
    assert not any(one.passed for one in results.values())


def test_chance_must_follow_the_seed(tmp_path: Path) -> None:
    body = "compiled = False\ndef on_send(self, now):\n    self.entropy = random.randrange(16384)"
    results = of_chooser(tmp_path, body, head="import random\n")
    assert {name for name, one in results.items() if not one.passed} == {SAME}
    assert COMPILES not in results  # it says itself that it is Python


def test_machine_code_that_differs_from_python_is_found(tmp_path: Path) -> None:
    """Whole numbers have 64 bits in machine code, and no end in Python."""
    body = "count: int = 3\ndef on_send(self, now):\n    self.count *= 3\n    self.entropy = 1 if self.count > 0 else 2"
    assert "entropies differ" in of_chooser(tmp_path, body, COMPILES)[COMPILES].why


def test_a_mistake_is_told_with_its_line(tmp_path: Path) -> None:
    """On a path that fails every callback is called."""
    body = "def on_timeout(self, now, entropy):\n    self.entropy = 1 // (entropy - entropy)"
    why = of_chooser(tmp_path, body, SAME)[SAME].why
    line = line_of(tmp_path, "1 //")
    assert f"path chooser 'broken' ({tmp_path / 'broken.py'}, line {line}): ZeroDivisionError" in why
