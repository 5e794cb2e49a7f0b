"""What would reset or switch off a machine: refuses, and that it was called is on record."""

from __future__ import annotations

import sys

from tests.emulated_lab.store import Store


def main(_arguments: list[str], _store: Store) -> int:
    print("this lab resets nothing; see calls.jsonl", file=sys.stderr)
    return 1
