"""`make coverage`: the tests that need no root, or some, and which lines of Python and of C they ran, by folder.

What is in build/coverage already is added to: in pieces it is one report as well. eBPF, and controllers that numba
compiles, are counted by nothing here; their sources in Python are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.coverage.of_c import Lines, counting, lines_of_c
from tests.support.checkout import ROOT

FOLDER = ROOT / "build" / "coverage"
PACKAGES = ("testbed", "controllers", "plugins")
TESTS = ("-m", "pytest", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile")
WITHOUT_ROOT = ("-m", "not root and not slow and not uml")
FORM = "{:<42} {:>8} {:>6} {:>8} {:>6}"


def run(tests: list[str]) -> int:
    """The tests' exit code; what was counted is in the folder."""
    environment = os.environ | counting(FOLDER) | {"COVERAGE_FILE": str(FOLDER / "python")}
    coverage = [sys.executable, "-m", "coverage"]
    with TemporaryDirectory() as basetemp:  # elsewhere: a pytest that a test runs would find this checkout's options
        done = subprocess.run(
            [*coverage, "run", *TESTS, *WITHOUT_ROOT, f"--basetemp={basetemp}/tests", *tests],
            cwd=ROOT,
            env=environment,
            check=False,
        )
    subprocess.run([*coverage, "combine", "--quiet", "--append"], cwd=ROOT, env=environment, check=True)
    return done.returncode


def lines_of_python() -> dict[Path, Lines]:
    """By file, of all packages: what no test imports counts as well."""
    report = FOLDER / "lines.json"  # not python.*, which `combine` takes for data
    subprocess.run(
        [sys.executable, "-m", "coverage", "json", "--quiet", "-o", report],
        cwd=ROOT, env=os.environ | {"COVERAGE_FILE": str(FOLDER / "python")}, check=True,
    )  # fmt: skip
    return {
        Path(name): dict.fromkeys(file["missing_lines"], False) | dict.fromkeys(file["executed_lines"], True)
        for name, file in json.loads(report.read_text())["files"].items()
    }


def by_folder(files: Mapping[Path, Lines]) -> tuple[Counter[str], Counter[str]]:
    """Lines, and those that ran."""
    lines, ran = Counter[str](), Counter[str]()
    for path, of_file in files.items():
        for name in ("all", str(path.parent)):
            lines[name] += len(of_file)
            ran[name] += sum(of_file.values())
    return lines, ran


def report(python: Mapping[Path, Lines], c: Mapping[Path, Lines]) -> str:
    """A table."""
    told = [FORM.format("folder", "Python", "%", "C", "%").rstrip()]
    counted = [by_folder(python), by_folder(c)]
    for name in sorted({name for lines, _ in counted for name in lines}):
        cells: list[str] = []
        for lines, ran in counted:
            cells += [f"{lines[name]:,}", f"{100 * ran[name] / lines[name]:.0f}"] if lines[name] else ["", ""]
        told.append(FORM.format(name, *cells).rstrip())
    return "\n".join(told)


def files(each: Mapping[Path, Lines]) -> str:
    """One per line, the least covered first."""
    shares = sorted((sum(lines.values()) / len(lines), path) for path, lines in each.items() if lines)
    return "".join(f"{100 * share:3.0f} %  {path}\n" for share, path in shares)


def main() -> int:
    status = run(sys.argv[1:])
    python, c = lines_of_python(), lines_of_c(FOLDER, ROOT, PACKAGES)
    (FOLDER / "files.txt").write_text(files({**python, **c}))
    print(told := report(python, c))
    (FOLDER / "report.txt").write_text(told + "\n")
    unseen = [one.relative_to(ROOT) for name in PACKAGES for one in (ROOT / name).rglob("*.c")]
    if unseen := sorted({*unseen} - c.keys()):
        print(f"C that no test compiles so: {', '.join(map(str, unseen))}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
