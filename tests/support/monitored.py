"""A port of the bench whose flows are monitored."""

from __future__ import annotations

import time

import numpy as np

from testbed.tuning.conditions import ConditionMonitor
from tests.support.packets import LOOPBACK, Bench, data

SRC_AT, DST_AT = 26, 30  # in the frame


def sent(src: int, dst: int, flow: int = 0) -> bytes:
    """A data frame from one host to another, by number. The checksum is not looked at."""
    frame = data(flow=flow)
    return frame[:SRC_AT] + address(src) + address(dst) + frame[DST_AT + 4 :]


def address(host: int) -> bytes:
    return bytes([10, 0, host >> 8, host & 255])


class Monitored:
    """A port that lets everything pass, and its monitor."""

    def __init__(self, rig: Bench) -> None:
        self.rig = rig
        self.rig.port(rate=100e9, buffer=1 << 30)
        assert rig.ports.flow_table is not None
        self.table = rig.ports.flow_table
        self.monitor = ConditionMonitor(self.table, np.array([LOOPBACK]))

    def send(self, frame: bytes, repeat: int = 1) -> None:
        self.rig.egress(frame, repeat)

    def slot(self) -> tuple[float, float]:
        """End a slot: its incast degree and share of mice."""
        columns = self.monitor.sample(time.monotonic_ns())
        return float(columns["incast_degree"][0]), float(columns["mice_share"][0])

    def known(self) -> int:
        return len(self.table.read()[0])
