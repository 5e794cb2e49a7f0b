"""The documentation site, of the pages as they are in the repository: ``make docs``.

Pages keep their places, so that their links lead where they lead on a code host. What else they link to comes along:
pictures as they are, source files as pages that show them. mkdocs checks every link and anchor then.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIRST = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
    "docs/**/*.md",
    "docs/site.*",
)
AS_THEY_ARE = {".png", ".svg", ".css", ".js", ".html"}
UNSEARCHED = "---\nsearch: { exclude: true }\n---\n"  # who asks a question does not look for source text
LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")


def main(build: Path) -> int:
    """Make ``build``/site of ``build``/pages; the exit code of mkdocs."""
    pages = build / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    waiting = [file for pattern in FIRST for file in sorted(ROOT.glob(pattern))]
    known = set(waiting)
    for file in waiting:  # grows while we walk
        linked = [one for one in _write(file, pages) if one not in known]
        known.update(linked)
        waiting += linked
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(build / "site")]
    environment = {**os.environ, "PAGES": str(pages), "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _write(file: Path, pages: Path) -> list[Path]:
    """One file; gives back what it links to. A link to nothing stays, for mkdocs to find."""
    target = pages / file.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix in AS_THEY_ARE:
        shutil.copy(file, target)
        return []
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".md":
        shown = f"{UNSEARCHED}# {file.relative_to(ROOT)}\n\n````` {file.suffix[1:]}\n{text}\n`````\n"
        target.with_name(f"{file.name}.md").write_text(shown, encoding="utf-8")
        return []
    linked: list[Path] = []

    def followed(found: re.Match[str]) -> str:
        there = (file.parent / found[2]).resolve()
        if not there.is_file():
            return found[0]
        linked.append(there)
        shown = "" if there.suffix in {".md", *AS_THEY_ARE} else ".md"
        return f"{found[1]}{found[2]}{shown}{found[3]}"

    target.write_text(LINK.sub(followed, text), encoding="utf-8")
    return linked


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build"))
