"""The Python of docs/reference/results.md reads a table with what `pip install cc-testbed` brings: without pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from testbed.results.tables import write_tables
from tests.support import synthetic_runs
from tests.support.checkout import ROOT

NO_PANDAS = """
import sys
class NoPandas:
    def find_spec(self, name, *_):
        if name == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NoPandas())
"""


def test_the_example_runs_without_pandas(tmp_path: Path) -> None:
    record = synthetic_runs.run()
    write_tables(tmp_path, record)
    _, _, rest = (ROOT / "docs/reference/results.md").read_text().partition("```python\n")
    code = rest.partition("```")[0]
    flow = f"{record.flows.src[0]}-{record.flows.dst[0]}"
    here = code.replace("results/...", str(tmp_path)).replace("h1-h65", flow)
    done = subprocess.run([sys.executable, "-c", NO_PANDAS + here], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("{b'unit': b'bit/s'} ")
    assert f"'flow': '{flow}'" in done.stdout
