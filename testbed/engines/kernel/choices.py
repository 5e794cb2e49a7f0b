"""What the kernel engine uses of what this kernel offers: who delays, who forwards, and whether ports can be held."""

from __future__ import annotations

from testbed.engines.kernel import features
from testbed.errors import TestbedError
from testbed.experiment.resolved import Resolved


def use_netem(resolved: Resolved) -> bool:
    """netem where the kernel has it, else the delay line, unless the experiment insists. Raises TestbedError."""
    return not _why_delay_line(resolved)


def explain_delays(resolved: Resolved) -> dict[str, str]:
    """Who delays, and why: for the log."""
    why = _why_delay_line(resolved)
    return {"by": "delay-line" if why else "netem", "because": why or "the kernel has it"}


def _why_delay_line(resolved: Resolved) -> str:
    """Empty for netem."""
    rack = resolved.experiment.rack
    if rack.delay_by == "delay-line":
        return "rack.delay_by asks for it"
    if rack.kind != "star" and rack.switch.pfc:
        return "ports between switches are held by rack.switch.pfc"
    reason = features.ask()["netem"]
    if rack.delay_by == "netem" and reason:
        raise TestbedError(
            f"rack.delay_by: netem was asked for, but {reason}; load sch_netem, or use 'auto' or 'delay-line'"
        )
    return f"netem: {reason}" if reason else ""


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
