"""Filters of clsact, for kernels before 6.6, which have no tcx.

Unlike tcx's attachments they outlive whoever made them. So a second process waits for the first one's end, whatever
that may be, and takes them away.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

PARENTS = {"ingress": 0xFFFFFFF2, "egress": 0xFFFFFFF3}
CLSACT = ("clsact", "ingress")
PRIORITY = 0x7E5B  # of our filters; any that no one else takes


def filter_names(netlink: IPRoute, index: int) -> Iterator[str]:
    """All filters at the two hooks."""
    if not _has_clsact(netlink, index):
        return
    for direction, parent in PARENTS.items():
        for one in netlink.get_filters(index=index, parent=parent):
            if one["handle"]:  # the first of each chain only names the chain
                options = one.get_attr("TCA_OPTIONS")
                name = options.get_attr("TCA_BPF_NAME") if options and one.get_attr("TCA_KIND") == "bpf" else ""
                yield f"filter {name or one.get_attr('TCA_KIND')} ({direction})"


def _has_clsact(netlink: IPRoute, index: int) -> bool:
    return any(one.get_attr("TCA_KIND") in CLSACT for one in netlink.get_qdiscs(index))


class ClsactFilters:
    """Programs attached as filters, until `remove`, or until this process has ended."""

    def __init__(self, netlink: IPRoute, index: int, programs: Mapping[str, int]) -> None:
        self.netlink, self.index = netlink, index
        self.made_clsact = not _has_clsact(netlink, index)
        self._watched, self._alive = os.pipe()
        self._guard = os.fork()
        if self._guard == 0:
            _watch(self._watched, self._alive, index, self.made_clsact)
        os.close(self._watched)
        if self.made_clsact:
            netlink.tc("add", "clsact", index)
        for direction, program in programs.items():
            netlink.tc(
                "add-filter", "bpf", index, fd=program, name=f"testbed_{direction}", parent=PARENTS[direction],
                prio=PRIORITY, classid=1, direct_action=True,
            )  # fmt: skip

    def remove(self) -> None:
        """Take them away now, and clsact if it was not there before."""
        _remove(self.netlink, self.index, self.made_clsact)
        os.kill(self._guard, signal.SIGKILL)
        os.waitpid(self._guard, 0)
        os.close(self._alive)


def _remove(netlink: IPRoute, index: int, clsact: bool) -> None:
    if clsact:
        netlink.tc("del", "clsact", index)
        return
    for parent in PARENTS.values():
        with contextlib.suppress(NetlinkError):  # there is none
            netlink.tc("del-filter", index=index, parent=parent, prio=PRIORITY)


def _watch(watched: int, alive: int, index: int, clsact: bool) -> None:
    """The guard's process; never returns."""
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.close(alive)
        os.closerange(0, watched)  # the control channel, most of all: it ends when no process has it open
        os.closerange(watched + 1, 4096)
        os.read(watched, 1)
        with IPRoute() as netlink, contextlib.suppress(NetlinkError):
            _remove(netlink, index, clsact)
    finally:
        os._exit(0)
