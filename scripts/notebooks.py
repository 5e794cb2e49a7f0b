#!/usr/bin/env python3
"""Make a marimo notebook of each tutorial: ``make notebooks`` writes build/notebooks from docs/start.

What is typed in the page is typed by a cell, in the same order. A file that it shows is an editor, and what comes after
runs again when its text changes. After a run its figures are shown.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs/start").glob("*.md"))
FOLDER = ROOT / "build/notebooks"
BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)```\n", re.DOTALL)
LINK = re.compile(r"\[([^]]+)]\((?!https?:)[^)]*\)")  # to other pages, which a notebook does not have beside it
HEAD = '''"""{title}: a notebook of docs/start/{name}.md, which `make notebooks` writes.

`marimo edit {name}.py`, in a folder of its own: it writes files and results there.
"""

import marimo

app = marimo.App()


@app.cell
def _():
    import shlex
    import shutil
    import subprocess
    import sys
    from pathlib import Path

    import marimo as mo

    import testbed

    def typed(line, *after):
        """What a command prints, after those that it comes after. Its results take the place of earlier ones."""
        command, _, file = line.partition(" > ")
        words = shlex.split(command)
        if "--out" in words:
            shutil.rmtree(words[words.index("--out") + 1], ignore_errors=True)
        done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
        if file:
            Path(file).write_text(done.stdout)
        return mo.plain_text(done.stderr if file else done.stdout + done.stderr)

    return Path, mo, testbed, typed
'''
END = """

if __name__ == "__main__":
    app.run()
"""


def notebook(page: Path) -> str:
    """The notebook of a tutorial."""
    text = page.read_text()
    title = text.partition("\n")[0].removeprefix("# ")
    return HEAD.format(title=title, name=page.stem) + "".join(cells(text)) + END


def cells(text: str) -> Iterator[str]:
    """Prose, commands and files in the page's order, each command after all before it."""
    done: list[str] = []
    for kind, part, name in parts(text):
        if kind == "prose" and part.strip():
            lines = LINK.sub(r"\1", part.strip()).splitlines()
            yield cell(["mo"], ['mo.md(r"""', *lines, '""")'])
        elif kind == "file":
            step, editor = f"step_{len(done)}", f"editor_{len(done)}"
            language = {"py": "python"}.get(Path(name).suffix[1:], Path(name).suffix[1:])
            yield cell(["mo"], [f"{editor} = mo.ui.code_editor(r'''{part}''', language={language!r})", editor], editor)
            yield cell(["Path", editor, *done], [f"{step} = Path({name!r}).write_text({editor}.value)"], step)
            done.append(step)
        elif kind == "typed":
            step = f"step_{len(done)}"
            after = "".join(f", {one}" for one in done[-1:])
            yield cell(["typed", *done[-1:]], [f"{step} = typed({part!r}{after})", step], step)
            done.append(step)
            if (folder := results(part)) is not None:
                yield cell(["testbed", step], [f"testbed.load({folder!r}) if {step} else None"])


def parts(text: str) -> Iterator[tuple[str, str, str]]:
    """A page's ``prose``, ``file``s (with their names) and ``typed`` lines."""
    prose, at = "", 0
    for block in BLOCK.finditer(text):
        prose += text[at : block.start()]
        at = block.end()
        if not block["file"] and block["kind"] != "sh":
            prose += block[0]
            continue
        yield "prose", prose, ""
        prose = ""
        if block["file"]:
            yield "file", block["text"], block["file"]
        else:
            yield from (("typed", line, "") for line in block["text"].replace("\\\n", "").splitlines())
    yield "prose", prose + text[at:], ""


def results(line: str) -> str | None:
    """The folder of what a command ran, if it says one."""
    words = shlex.split(line)
    return words[words.index("--out") + 1] if words[1] == "run" and "--out" in words else None


def cell(takes: list[str], lines: list[str], *gives: str) -> str:
    """Code of a cell."""
    body = "".join(f"    {line}\n" if line else "\n" for line in lines)
    given = f"    return ({', '.join(gives)},)\n" if gives else "    return\n"
    return f"\n\n@app.cell\ndef _({', '.join(takes)}):\n{body}{given}"


def write(folder: Path) -> list[Path]:
    """All of them, into this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{page.stem}.py" for page in PAGES]
    for file, page in zip(files, PAGES, strict=True):
        file.write_text(notebook(page))
    return files


if __name__ == "__main__":
    write(FOLDER)
