"""What ran of C is counted in processes that end by _exit, too, and over all ways to compile it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.coverage.of_c import counting, lines_of_c
from tests.support.checkout import ROOT

SOURCE = """int called(int n) {
#ifdef OTHER
  return n + 1;
#endif
  return n;
}
int never(void) { return 0; }
"""
CALLED = """
import ctypes, os
from pathlib import Path
from testbed.base.compiler import LIBRARY_FLAGS, Unit

source = (Path("code/one.c").absolute(),)
for more in ((), ("-DOTHER",)):
    library = Unit("one", source, ".so", (*LIBRARY_FLAGS, *more)).compiled()
    if not (pid := os.fork()):
        ctypes.CDLL(str(library)).called(1)
        os._exit(0)
    os.waitpid(pid, 0)
"""


def test_forked_processes_and_variants_count(tmp_path: Path) -> None:
    (source := tmp_path / "code" / "one.c").parent.mkdir()
    source.write_text(SOURCE)
    environment = os.environ | counting(tmp_path / "counted") | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", CALLED], cwd=tmp_path, env=environment, check=True)
    (found,) = lines_of_c(tmp_path / "counted", tmp_path, ["code"]).items()
    assert found == (Path("code/one.c"), {1: True, 3: True, 5: True, 7: False})
