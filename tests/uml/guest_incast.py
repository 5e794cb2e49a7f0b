"""Runs inside the guest, for `test_incast.py`: the same `testbed run` with each way of delaying, in one process.

One process, because most of a short run is Python's start-up here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import testbed.emulate  # noqa: F401 - imported once here instead of once per run
from testbed import cli


def main(results: Path, arguments: list[str]) -> int:
    codes = set()
    for delay_by in ("netem", "delay-line"):
        out = ["--set", f"rack.delay_by={delay_by}", "--out", str(results / delay_by)]
        sys.argv = ["testbed", "run", *arguments, *out]
        try:
            code = cli.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        print(f"{delay_by}: exit code {code}", file=sys.stderr)
        codes.add(code)
    return int(not codes <= {0, 3})  # on a busy machine a run may be degraded


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))
