"""``python -m tests.support.rewritten``: what pytest makes of the asserts of all tests, made once as compileall would.

It is half of what collecting takes, and workers that collect at the same time would each make it anew.
"""

from __future__ import annotations

from multiprocessing import get_context
from pathlib import Path

import pytest
from _pytest.assertion import AssertionState, rewrite

from tests.support.checkout import ROOT

CONFIG = pytest.Config.fromdictargs({}, [])
STATE = AssertionState(CONFIG, "rewrite")


def keep(file: Path) -> None:
    """Where pytest looks for it when it imports the file."""
    folder = rewrite.get_cache_dir(file)
    folder.mkdir(exist_ok=True)
    read, code = rewrite._rewrite_test(file, CONFIG)
    rewrite._write_pyc(STATE, code, read, folder / f"{file.stem}{rewrite.PYC_TAIL}")


if __name__ == "__main__":
    with get_context("fork").Pool(2) as pool:
        pool.map(keep, (ROOT / "tests").rglob("test_*.py"), chunksize=8)
