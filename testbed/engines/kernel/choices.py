"""What the kernel engine uses of what this kernel offers: for delay, for forwarding, and for PFC between switches."""

from __future__ import annotations

from testbed.engines.kernel import features
from testbed.errors import TestbedError
from testbed.experiment.resolved import Resolved


def use_netem(resolved: Resolved) -> bool:
    """Whether links delay with netem: where the kernel has it, unless the experiment chooses. Raises TestbedError."""
    return not _why_delay_line(resolved)


def explain_delays(resolved: Resolved) -> dict[str, str]:
    """What delays, and why: for the log."""
    why = _why_delay_line(resolved)
    return {"by": "delay-line" if why else "netem", "because": why or "the kernel has it"}


def _why_delay_line(resolved: Resolved) -> str:
    """Empty for netem."""
    rack = resolved.experiment.rack
    if rack.delay_by == "delay-line":
        return "rack.delay_by chooses it"
    if resolved.layout.shape.trunks and rack.switch.pfc:
        return "rack.switch.pfc pauses ports between switches"
    if resolved.layout.shape.trunks and rack.switch.tables:
        return "netem delays behind the queues of ports between switches, whose backlog is counted at the far end"
    if rack.nic.receive:
        return "rack.nic.receive pauses the ports to hosts"
    if resolved.src_threshold:
        return "answers overtake data at every port of switches that send SRCs"
    reason = features.ask()["netem"]
    if rack.delay_by == "netem" and reason:
        raise TestbedError(
            f"rack.delay_by: netem was configured, but {reason}; load sch_netem, or use 'auto' or 'delay-line'"
        )
    return f"netem: {reason}" if reason else ""


def forwarding_by(resolved: Resolved) -> str:
    """What forwards at the switches. Raises TestbedError if the kernel cannot."""
    configured = resolved.experiment.rack.switch.forwarding
    reason = features.ask()["Open vSwitch"] if configured == "ovs" else ""
    if reason:
        raise TestbedError(
            f"rack.switch.forwarding: ovs was configured, but {reason}; load the module openvswitch, or use 'bridge'"
        )
    return configured


def check_gates(resolved: Resolved) -> None:
    """Raises TestbedError if PFC has to pause ports between switches, ports have classes or send SRCs, without HTB."""
    rack = resolved.experiment.rack
    pauses = resolved.layout.shape.trunks and rack.switch.pfc
    several = rack.switch.tables is not None
    reason = features.ask()["HTB"] if pauses or several or resolved.src_threshold else ""
    if reason and several:
        raise TestbedError(
            f"rack.switch.classes: ports with several queues need HTB, but {reason}; load the module sch_htb"
        )
    if reason and not pauses:
        raise TestbedError(
            f"controller: {resolved.title} needs ports with two classes, by HTB, but {reason}; load the module sch_htb"
        )
    if reason:
        raise TestbedError(
            f"rack.switch.pfc: ports between switches need HTB, but {reason}; load the module sch_htb, or use 'off'"
        )
