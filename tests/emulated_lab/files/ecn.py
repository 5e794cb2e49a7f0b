"""DCQCN's files: ecn/ below the interface in sysfs, cc_params below the PCI address in debugfs."""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import partial

from tests.emulated_lab import dcqcn
from tests.emulated_lab.cards import CARDS
from tests.emulated_lab.files.entry import File, Tree
from tests.emulated_lab.store import State


def sysfs() -> Tree:
    """ecn/ as MLNX_OFED has it."""
    tree: Tree = {
        parameter.sysfs: _file(parameter, dcqcn.by_sysfs, 0o644) for parameter in dcqcn.PARAMETERS if parameter.sysfs
    }
    for role in ("roce_rp", "roce_np"):
        for priority in range(8):
            tree[f"{role}/enable/{priority}"] = File(
                partial(_read_enable, role, priority), partial(_write_enable, role, priority)
            )
    return tree


def debugfs(card: str) -> Tree:
    """cc_params as the mainline driver has it; two of them only on a card with that capability."""
    there = [one for one in dcqcn.PARAMETERS if CARDS[card].rtt_response or not one.name.startswith("rtt_resp")]
    return {one.debugfs: _file(one, dcqcn.by_debugfs, 0o600) for one in there if one.debugfs}


def _file(parameter: dcqcn.Parameter, store: Callable[[State, dcqcn.Parameter, str], None], mode: int) -> File:
    def read(state: State) -> str:
        return f"{state['dcqcn'][parameter.name]}\n"

    def write(state: State, text: str) -> None:
        store(state, parameter, text)

    return File(read, write, mode)


def _read_enable(role: str, priority: int, state: State) -> str:
    return f"{state[f'{role}_enable'][priority]}\n"


def _write_enable(role: str, priority: int, state: State, text: str) -> None:
    if text.strip() not in ("0", "1"):
        raise OSError(errno.EINVAL, f"{role}/enable/{priority}")
    state[f"{role}_enable"][priority] = int(text)
