"""What `testbed new` does: writes a plugin, together with its test and, if it is to learn, its training."""

from __future__ import annotations

import importlib.util
import keyword
import re
from pathlib import Path
from string import Template

from testbed.errors import BadInput, nearest
from testbed.registry import CHOOSER, GROUPS, RECEIVER

TEMPLATES = Path(__file__).parent / "templates"
KINDS = ("controller", "tuner", "chooser")  # of plugins that have templates
FORMS = ("compiled", "batch", "object", "learned", "c", "receiver")  # of a controller
OWN_TEST = ("batch", "learned", "c", "receiver")  # others have that of the first


REPOSITORY = {  # what makes a folder the repository of a plugin
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    ".github/workflows/tests.yml": "tests.yml.txt",
}


def new(kind: str, name: str, directory: Path, form: str = FORMS[0], *, repository: bool = False) -> list[Path]:
    """Write ``<name>.py``, or ``<name>.c``, and ``test_<name>.py`` into ``directory``. Nothing is ever overwritten.

    For a ``repository``, also its package and its workflow.
    """
    if kind not in KINDS:
        raise BadInput(f"'{kind}' is not a kind of plugin; {nearest(kind, list(KINDS))}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name) or name.startswith("test_"):
        raise BadInput(
            f"'{name}' cannot be the name of a {kind}: a Python module in lower case is expected, such as 'my_cc', "
            "that does not begin with 'test_'"
        )
    if not directory.is_dir():
        raise BadInput(f"directory '{directory}' does not exist; create it, or give another one")
    title = "".join(word.capitalize() for word in name.split("_"))
    suffix = f"_{form}" if form != FORMS[0] else ""
    own_test = suffix if form in OWN_TEST else ""
    language = "c" if form == "c" else "py"
    texts = {
        directory / f"{name}.{language}": f"{kind}{suffix}.{language}.txt",
        directory / f"test_{name}.py": f"test_{kind}{own_test}.py.txt",
    }
    if form == "learned":
        texts[directory / f"train_{name}.py"] = f"train_{kind}.py.txt"
    if repository and form == "c":
        raise BadInput("a repository is written for plugins in Python; docs/howto/c.md has how one in C is packaged")
    texts |= {directory / file: template for file, template in REPOSITORY.items() if repository}
    for file in texts:
        if file.exists():
            raise BadInput(f"'{file}' exists already; choose another name, or move it away")
    if importlib.util.find_spec(name) is not None:
        raise BadInput(f"'{name}.py' would hide the installed module '{name}'; choose another name")
    group = GROUPS[RECEIVER if form == "receiver" else CHOOSER if kind == "chooser" else kind]
    words = {"name": name, "form": title, "kind": kind, "group": group, "distribution": name.replace("_", "-")}
    for file, template in texts.items():
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(Template(text).substitute(words), encoding="utf-8")
    return list(texts)
