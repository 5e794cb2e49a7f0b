"""The diagrams of docs/pictures: drawn by today's script, of files that there are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.support.checkout import ROOT

FILE = re.compile(r"(?<![.*\w])[\w/]+(?:\.bpf)?\.(?:c|h|py)\b")


def test_they_are_those_of_the_script_and_name_files_that_exist(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts/diagrams.py", tmp_path], check=True)
    drawn = sorted(tmp_path.iterdir())
    assert [one.name for one in drawn] == ["architecture.svg", "decision.svg", "engines.svg", "packet.svg"]
    named = set()
    for one in drawn:
        text = one.read_text()
        assert text == (ROOT / "docs/pictures" / one.name).read_text()
        named.update(FILE.findall(text))
    assert len(named) > 10
    assert [name for name in sorted(named) if not [*ROOT.glob(name), *ROOT.glob(f"testbed/**/{name}")]] == []
