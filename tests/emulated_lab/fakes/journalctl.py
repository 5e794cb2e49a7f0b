"""`journalctl`: what units printed."""

from __future__ import annotations

import argparse
import json
from datetime import datetime
from pathlib import Path

from tests.emulated_lab.store import Store
from tests.emulated_lab.systemd.unitfile import full_name


def main(arguments: list[str], store: Store) -> int:
    parser = argparse.ArgumentParser(prog="journalctl", allow_abbrev=False)
    parser.add_argument("-u", "--unit", action="append", default=[])
    parser.add_argument("-n", "--lines", type=int)
    parser.add_argument("-o", "--output", choices=("short", "cat", "json", "short-iso"), default="short")
    parser.add_argument("--since")
    for ignored in ("--no-pager", "-q", "--quiet", "-x", "-e", "-b", "--no-hostname"):
        parser.add_argument(ignored, action="store_true")
    options = parser.parse_args(arguments)
    units = {full_name(name) for name in options.unit}
    since = _time(options.since) if options.since else 0.0
    entries = [json.loads(line) for line in _lines(store.folder / "journal.jsonl")]
    chosen = [e for e in entries if (not units or e["unit"] in units) and e["time"] >= since]
    for entry in chosen[-options.lines :] if options.lines else chosen:
        print(_shown(entry, options.output))
    if not chosen and options.output != "json":
        print("-- No entries --")
    return 0


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _time(text: str) -> float:
    return float(text[1:]) if text.startswith("@") else datetime.fromisoformat(text).timestamp()


def _shown(entry: dict[str, object], how: str) -> str:
    if how == "cat":
        return str(entry["text"])
    moment = float(str(entry["time"]))
    if how == "json":
        named = {
            "__REALTIME_TIMESTAMP": str(int(moment * 1e6)), "_SYSTEMD_UNIT": entry["unit"],
            "_PID": str(entry["pid"]), "SYSLOG_IDENTIFIER": entry["who"], "MESSAGE": entry["text"],
        }  # fmt: skip
        return json.dumps(named)
    when = f"{datetime.fromtimestamp(moment):%b %d %H:%M:%S}"
    return f"{when} lab {entry['who']}[{entry['pid']}]: {entry['text']}"
