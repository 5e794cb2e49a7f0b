"""Errors of a host whose network is in the way."""

from __future__ import annotations

import errno
import os
from typing import Any, cast

import numpy as np
import pytest

from testbed.dataplane.programs import NicPrograms
from testbed.engines.lab.host.session import HostSession
from testbed.errors import TestbedError
from tests.engines.lab.pair import ADDRESSES, host_config


@pytest.mark.parametrize("code", [errno.ENETUNREACH, errno.EPERM, errno.ECONNREFUSED])
def test_a_packet_that_cannot_be_sent_is_no_bug_of_ours(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """No route, a firewall here, an answer by ICMP: both ends are named, and where to look."""

    def unreachable(*_: Any) -> float:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("testbed.engines.lab.host.session.measure_base_rtt", unreachable)
    session = HostSession(host_config(0), {"dst": np.array([1]), "size": np.array([np.inf]), "start": np.zeros(1)})
    session.address, session.addresses = ADDRESSES[0], ADDRESSES
    session._nic = cast(NicPrograms, object())
    with pytest.raises(TestbedError) as caught:
        session.base_rtts()
    assert str(caught.value) == (
        f"h1 (10.97.0.1) cannot send to h2 (10.97.0.2), UDP port 4793: {os.strerror(code)}; see: "
        "ip route get 10.97.0.2, and the firewalls of both"
    )
