"""Names that a stranger chose act on nobody who looks at the result: not on a page, not in a terminal, not on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from testbed.errors import BadInput
from testbed.fidelity.verdict import judge
from testbed.results import folder
from testbed.results.manifest import Manifest
from testbed.results.report import build
from testbed.results.summary import summarise
from tests.support.commands import command
from tests.support.synthetic_decisions import ACK, BEGIN, halved_by_a_cnp, recorded, row
from tests.support.synthetic_runs import run

MARKUP = "<img src=x onerror=alert(1)>"
QUOTED = '"><script>alert(1)</script>'
OTHER = "[/bold] [link=http://x]$\\frac{$ ../../../up"


def made(path: Path, manifest: Manifest, controller: str = "my_cc", source: str = "h1") -> Path:
    record = run((0.6, 0.4), sources=(source, "h2"))
    summary = summarise(record, judge(record), experiment=f"made {MARKUP}", controller=controller, tuner=QUOTED)
    about = manifest.model_copy(update={"command_line": ["testbed", QUOTED], "versions": {MARKUP: QUOTED}})
    return folder.write(path, about, record, summary)


@pytest.fixture
def written(tmp_path: Path, manifest: Manifest) -> Path:
    """A result whose controller, experiment and hosts have such names."""
    return made(tmp_path / "run", manifest, f"{QUOTED}{OTHER}", f"/{OTHER}{MARKUP}")


def test_pages_and_drawings_have_no_markup_of_theirs(written: Path, tmp_path: Path) -> None:
    build.rebuild(written, tmp_path / "page")
    compared = command("compare", str(written), "--out", str(tmp_path / "compared"), cwd=tmp_path)
    assert compared.returncode in {0, 3}, compared.stderr
    pages = [*tmp_path.glob("page/**/*.*"), *tmp_path.glob("compared/**/*.html"), *tmp_path.glob("compared/**/*.svg")]
    texts = [one.read_text() for one in pages]
    assert len(texts) > 8
    assert not any("<img src=x" in text or "<script>alert" in text for text in texts)
    assert any("&lt;img src=x" in text for text in texts)


def test_no_file_is_written_elsewhere(manifest: Manifest) -> None:
    """The first flow's decisions are drawn into a file of its name."""
    record = run((0.6, 0.4), sources=("/../../../up", "h2"))
    agent = recorded([*halved_by_a_cnp(), row(0, 1, 100, BEGIN), row(1e-3, 1, 100, ACK)], flows=2)
    summary = summarise(record, judge(record), experiment="made", controller="my_cc")
    report = build.compose(record, summary, manifest, [agent])
    names = [*report.drawings()]
    assert any(name.startswith("decisions-") for name in names)
    assert all(Path(name).name == name for name in names)


def test_words_for_a_terminal_are_told_as_they_are(written: Path, tmp_path: Path) -> None:
    """Neither rich's markup nor an error by it."""
    for verb in ("watch", "compare"):
        done = command(verb, str(written), cwd=tmp_path)
        assert done.returncode in {0, 3}, done.stderr
        assert "Traceback" not in done.stderr


ESCAPE = "\x1b]0;owned\x07"


def test_a_control_character_reaches_no_terminal(tmp_path: Path, manifest: Manifest) -> None:
    path = made(tmp_path / "run", manifest)
    for name in ("manifest.json", "summary.json"):
        file = path / name
        held = json.loads(file.read_text())
        if name == "manifest.json":
            held["controller"]["name"] = f"x{ESCAPE}"
        else:
            held["controller"] = f"x{ESCAPE}"
        file.write_text(json.dumps(held))
    for arguments in (["watch", str(path)], ["compare", str(path)]):
        done = command(*arguments, cwd=tmp_path)
        assert done.returncode in {0, 3}, done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert "x\\x1b]0;owned" in done.stdout
    assert "\x1b" not in command("watch", f"{ESCAPE}/", cwd=tmp_path).stderr


def test_nor_one_in_a_table(tmp_path: Path, manifest: Manifest) -> None:
    path = made(tmp_path / "run", manifest)
    file = path / "flows.parquet"
    table = parquet.read_table(file)
    number = table.column_names.index("src")
    parquet.write_table(table.set_column(number, "src", pa.array([ESCAPE, "h2"])), file)
    with pytest.raises(BadInput, match=r"flows\.parquet is cut short or damaged: column src has a text with a control"):
        folder.load(path).tables["flows"]


def test_nor_one_of_an_experiment_file(tmp_path: Path) -> None:
    file = tmp_path / "theirs.yaml"
    file.write_text('name: "x\\e]0;owned\\a"\ntraffic: {pattern: incast, senders: 2}\ncontroller: dcqcn\n')
    done = command("validate", str(file), cwd=tmp_path)
    assert (done.returncode, "\x1b" in done.stdout + done.stderr) == (2, False)
    assert "line 1: name: the control character in " in done.stderr
