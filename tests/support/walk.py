"""Pages that are walked: their commands run as they stand, and print what the page says they print.

``python -m tests.support.walk`` writes what they print today into the pages of `PAGES`.

* A block after ``<!-- file: NAME -->`` is that file, in the folder in which the page is walked.
* Each line of a ``sh`` block is typed there, but for those that begin with ``sudo``. A run draws its report if the page
  speaks of it.
* Each line of a ``text`` block is a line of what the commands since the last one printed, in that order, however many
  spaces part its columns. ``...`` stands for any lines.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.support.checkout import ROOT
from tests.support.commands import command

PAGES = sorted((ROOT / "docs/start").glob("*.md"))
BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.DOTALL)
WIDTH = "100"  # columns, as the pages show tables
BIN = Path(sys.executable).parent


class Walk:
    """One page, step by step."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.text = page.read_text()
        self._folder = folder

    def shown(self) -> Iterator[tuple[re.Match[str], str]]:
        """Walks the page: each block that shows what was printed, and what was."""
        printed = ""
        for block in BLOCK.finditer(self.text):
            if block["file"]:
                (self._folder / block["file"]).write_text(block["text"])
            elif block["kind"] == "sh":
                printed += "".join(map(self._typed, _lines(block["text"])))
            elif block["kind"] == "text":
                yield block, printed
                printed = ""

    def _typed(self, line: str) -> str:
        """What a command printed; it must be content."""
        program, *arguments = shlex.split(line)
        if program == "testbed" and ">" not in arguments:
            if arguments[0] == "run" and f"`{arguments[-1]}/report.html`" not in self.text:
                arguments += ["--set", "record.report=false"]
            done = command(*arguments, cwd=self._folder, COLUMNS=WIDTH)
        else:
            environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
            done = subprocess.run(
                ["sh", "-c", line], cwd=self._folder, env=environment, capture_output=True, text=True, timeout=200,
                check=False,
            )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


def _lines(text: str) -> list[str]:
    """The commands of a block; comments after them are the reader's."""
    typed = [re.sub(r"\s+#.*", "", line) for line in text.replace("\\\n", "").splitlines()]
    return [line for line in typed if line.strip() and not line.startswith(("sudo ", "#"))]


def plain(line: str) -> str:
    """A line whose columns are parted by one space each."""
    return " ".join(line.split())


def missing(block: str, printed: str) -> list[str]:
    """The lines of a block that nobody printed, or not in that order."""
    there = iter([plain(line) for line in printed.splitlines()])
    return [line for line in map(plain, block.splitlines()) if line not in ("", "...") and line not in there]


def renewed(block: str, printed: str) -> str:
    """The block with its lines as they are printed now."""
    there, lines = printed.splitlines(), []
    for line in block.splitlines():
        if line not in ("", "..."):
            at = _where(line, there)
            lines.append(there[at].rstrip())
            there = there[at + 1 :]
        else:
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _where(line: str, there: Sequence[str]) -> int:
    """The place of the same line, or of the first one with other figures, or that begins with the same words."""
    label = re.match(r"\S+ [^\d(]*|", plain(line))
    assert label
    alike: list[Callable[[str], bool]] = [
        lambda other: plain(other) == plain(line),
        lambda other: _shape(other) == _shape(line) or bool(label[0] and plain(other).startswith(label[0])),
    ]
    for same in alike:
        for at, other in enumerate(there):
            if same(other):
                return at
    raise SystemExit(f"nothing like this is printed: {line}")


def _shape(line: str) -> str:
    return re.sub(r"[\d.,]+", "#", plain(line))


def main() -> None:
    """Write what the commands print into the pages."""
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            walk = Walk(page, Path(folder))
            written, upto = "", 0
            for block, printed in walk.shown():
                written += walk.text[upto : block.start("text")] + renewed(block["text"], printed)
                upto = block.end("text")
            page.write_text(written + walk.text[upto:])


if __name__ == "__main__":
    main()
