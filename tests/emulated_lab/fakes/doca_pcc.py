"""`doca_pcc`: the loader of a program for the DPA, and whatever an exported project builds with the same options.

A file PROGRAM.json beside the program describes its algorithm (see `tests.emulated_lab.ppcc.algorithm`); without it,
it is DOCA's sample. A test's fault "error" or "deactivated" changes the state of a running one.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

from tests.emulated_lab import counters, ppcc
from tests.emulated_lab.cards import CARDS
from tests.emulated_lab.fakes import device
from tests.emulated_lab.store import State, Store

CLEANING = 0.3  # s that destroying the context takes: a second SIGINT in it is fatal
POLL = 0.05  # s
EVENTS = 1000.0  # per second, of each counter of a program that runs
NAMES = {"active": "Active", "standby": "Standby", "deactivated": "Deactivated", "error": "Error"}


def main(arguments: list[str], store: Store) -> int:
    if os.environ.get("_STDBUF_O") in ("L", "0"):  # as stdbuf tells C's stdio; else a pipe is block-buffered
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    options = _parser().parse_args(arguments)
    state = store.read()
    if problem := _refusal(options, state):
        _log("ERR", problem)
        return 1
    run = Run(store, _program())
    signal.signal(signal.SIGINT, run.interrupted)
    signal.signal(signal.SIGUSR1, lambda *_: _log("INF", "debug: nothing to show"))
    run.until(None if options.w < 0 else time.monotonic() + options.w)
    time.sleep(CLEANING)
    run.release()
    _log("INF", "PCC host is done")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="doca_pcc", allow_abbrev=False)
    parser.add_argument("-d", "--device", required=True)
    parser.add_argument("-w", "--wait-time", dest="w", type=int, default=-1)
    for switch in ("-rp-st", "-np-st", "-r-handler", "-gns-ignore-mask", "-gns-ignore-val", "-np-nt"):
        parser.add_argument(switch, nargs="?")
    for setting in ("-t", "-hl", "-gns", "-f", "-l", "--sdk-log-level", "--dpa-resources", "--dpa-app-key"):
        parser.add_argument(setting)
    return parser


def _refusal(options: argparse.Namespace, state: State) -> str:
    if not device.is_this(options.device, state):
        return f"Failed to find device {options.device}"
    if options.w == 0:
        return "Wait time of 0 is not supported"
    keys = state["nvconfig"]
    if not CARDS[state["card"]].pcc or not keys["USER_PROGRAMMABLE_CC"]["current"]:
        return "PCC CONFIG object is not supported on this device"
    if keys["DPA_AUTHENTICATION"]["current"]:
        return "Failed to create DPA process: syndrome 0x8f333"
    return ""


def _program() -> ppcc.Algorithm:
    described = Path(sys.argv[0] + ".json")
    return json.loads(described.read_text()) if described.exists() else ppcc.rtt_template()


class Run:
    """One loader, from its start until it leaves the device."""

    def __init__(self, store: Store, program: ppcc.Algorithm) -> None:
        self._store, self._program = store, program
        self._me = {"pid": os.getpid(), "started": _started(os.getpid())}
        self._stop = False
        self._state = ""

    def interrupted(self, _number: int, _frame: FrameType | None) -> None:
        """The first SIGINT asks it to stop, and restores the default action."""
        self._stop = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def until(self, deadline: float | None) -> None:
        """Until it is told to stop, the time is over, or the process is in a state that it does not leave."""
        while not self._stop and (deadline is None or time.monotonic() < deadline):
            self._say(self._look())
            if self._state in ("deactivated", "error"):
                return  # and the exit code is 0
            time.sleep(POLL)

    def _look(self) -> str:
        now = self._store.read()
        if now["faults"]["pcc"]:
            return str(now["faults"]["pcc"])
        if now["pcc"]["owner"] is None:
            with self._store.edit() as state:
                self._claim(state)
                now = state
        return "active" if now["pcc"]["owner"] == self._me else "standby"

    def _claim(self, state: State) -> None:
        if state["pcc"]["owner"] is None:
            state["pcc"]["owner"] = self._me
            state["ppcc"]["0"] = self._program
            for index in range(len(self._program["counters"])):
                counters.tell(state, ppcc.counter(self._program, index), rate=EVENTS)

    def release(self) -> None:
        """Leave the device to the next one. Who dies before this leaves a ghost."""
        with self._store.edit() as state:
            if state["pcc"]["owner"] == self._me:
                state["pcc"]["owner"] = None
                del state["ppcc"]["0"]
                for index in range(len(self._program["counters"])):
                    counters.tell(state, ppcc.counter(self._program, index), rate=0)

    def _say(self, state: str) -> None:
        if state != self._state:
            self._state = state
            _log("INF", f"PCC host status {NAMES[state]}")


def ghost(state: State) -> bool:
    """Whether the device belongs to a loader that is no more: only the power being cut ends that."""
    owner: dict[str, Any] | None = state["pcc"]["owner"]
    return owner is not None and _started(owner["pid"]) != owner["started"]


def _started(pid: int) -> str:
    """When a process started, "" if there is none: numbers are used again."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except FileNotFoundError:
        return ""


def _log(level: str, text: str) -> None:
    print(f"[{datetime.now():%H:%M:%S:%f}][{os.getpid()}][DOCA][{level}][pcc.c] {text}")
