"""What a host says of a network that is in the way."""

from __future__ import annotations

import errno
import os
from typing import Any, cast

import numpy as np
import pytest

from testbed.dataplane.programs import NicPrograms
from testbed.engines.lab import probe
from testbed.engines.lab.station import Station
from testbed.errors import TestbedError
from tests.engines.lab.pair import ADDRESSES, job


@pytest.mark.parametrize("code", [errno.ENETUNREACH, errno.EPERM, errno.ECONNREFUSED])
def test_a_packet_that_cannot_be_sent_is_no_bug_of_ours(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """No route, a firewall here, an answer by ICMP: both ends are named, and where to look."""

    def base_rtt(*_: Any) -> float:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(probe, "base_rtt", base_rtt)
    station = Station(job(0), {"dst": np.array([1]), "size": np.array([np.inf]), "start": np.zeros(1)})
    station.address, station.addresses = ADDRESSES[0], ADDRESSES
    station._nic = cast(NicPrograms, object())
    with pytest.raises(TestbedError) as caught:
        station.base_rtts()
    assert str(caught.value) == (
        f"h1 (10.97.0.1) cannot send to h2 (10.97.0.2), UDP port 4793: {os.strerror(code)}; see: "
        "ip route get 10.97.0.2, and the firewalls of both"
    )
