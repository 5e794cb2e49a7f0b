"""A user's mistakes and the words for them: errors/ has the golden cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.errors import BadInput
from testbed.experiment.load import load, resolve

ERRORS = Path(__file__).parent / "errors"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The golden files name no folder."""
    monkeypatch.chdir(ERRORS)
    return ERRORS


@pytest.mark.parametrize("case", sorted(file.stem for file in ERRORS.glob("*.yaml")))
def test_golden_error(case: str, folder: Path) -> None:
    with pytest.raises(BadInput) as caught:
        resolve(load(f"{case}.yaml"))
    message = str(caught.value).replace(str(folder), "FOLDER")
    assert message == (folder / f"{case}.txt").read_text().rstrip("\n")
