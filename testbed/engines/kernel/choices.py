"""What the kernel engine uses of what this kernel offers: who delays, who forwards, and whether ports can be held."""

from __future__ import annotations

from testbed.engines.kernel import features
from testbed.errors import TestbedError
from testbed.experiment.resolved import Resolved


def use_netem(resolved: Resolved) -> bool:
    """netem where the kernel has it, else the delay line, unless the experiment insists. Raises TestbedError."""
    rack = resolved.experiment.rack
    asked = rack.delay_by
    if asked == "delay-line" or (rack.kind != "star" and rack.switch.pfc):
        return False
    reason = features.ask()["netem"]
    if asked == "netem" and reason:
        raise TestbedError(
            f"rack.delay_by: netem was asked for, but {reason}; load sch_netem, or use 'auto' or 'delay-line'"
        )
    return not reason


def forwarding_by(resolved: Resolved) -> str:
    """Who forwards at the switches. Raises TestbedError if the kernel cannot."""
    asked = resolved.experiment.rack.switch.forwarding
    reason = features.ask()["Open vSwitch"] if asked == "ovs" else ""
    if reason:
        raise TestbedError(
            f"rack.switch.forwarding: ovs was asked for, but {reason}; load the module openvswitch, or use 'bridge'"
        )
    return asked


def check_gates(resolved: Resolved) -> None:
    """Ports between switches can be paused. Raises TestbedError if the kernel cannot hold them."""
    rack = resolved.experiment.rack
    reason = features.ask()["HTB"] if rack.kind != "star" and rack.switch.pfc else ""
    if reason:
        raise TestbedError(
            f"rack.switch.pfc: ports between switches need HTB, but {reason}; load the module sch_htb, or use 'off'"
        )
