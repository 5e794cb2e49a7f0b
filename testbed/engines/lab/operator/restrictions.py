"""What an experiment may not ask of a lab; and the settings of it that the lab decides."""

from __future__ import annotations

from testbed.controller import Signal
from testbed.engines.lab.operator.inventory import Inventory
from testbed.errors import BadInput
from testbed.experiment.model import DEFAULT_TUNER
from testbed.experiment.resolved import Resolved
from testbed.experiment.topology.any_rack import Nic
from testbed.experiment.topology.settings import Star
from testbed.experiment.traffic.plan import USUAL_TOS
from testbed.units import show_rate

REAL = 1.0


def settings(inventory: Inventory) -> dict[str, str]:
    """Settings of the experiment that the lab decides: time is real, and links are as fast as hosts may send."""
    return {"time.dilation": f"{REAL:g}", "rack.link.rate": show_rate(inventory.common.testbed_rate)}


def check(resolved: Resolved, inventory: Inventory) -> None:
    """Raises BadInput, with all reasons, if the experiment asks for what only a rack has."""
    experiment, controller = resolved.experiment, resolved.controller
    rack = experiment.rack
    refused = [
        (experiment.engine != "kernel", f"engine: {experiment.engine} is another one than the lab; leave it out"),
        (experiment.time.until_rest > 0, "time.until_rest: in a lab a run's window stays where it is; leave it out"),
        (experiment.time.dilation != REAL, f"time.dilation: time is real in a lab, it can only be {REAL:g}"),
        (
            not isinstance(rack, Star),
            f"rack.kind: {rack.kind}: the lab's switches are as they are cabled, only its hosts are ours; use star",
        ),
        (isinstance(rack, Star) and bool(rack.links), "rack.links: the lab's links are as they are; leave it out"),
        (
            bool(experiment.controllers),
            "controllers: all hosts of a lab run one controller; leave it out, or run the experiment in the rack",
        ),
        (experiment.routing.many_paths, "routing: the lab's switches and NICs choose paths themselves; say ecmp"),
        (experiment.queue_pairs != "per-message", "queue_pairs: each flow of a lab has its own; say per-message"),
        (experiment.transport.numbered, "transport.recovery: not over a lab's wires yet; say per-packet"),
        (experiment.transport.operation != "send", "transport.operation: not over a lab's wires yet; say send"),
        (experiment.receiver is not None, "receiver: not over a lab's wires yet; leave it out"),
        (bool(experiment.events), "events: the testbed cannot take the lab's links down; leave them out"),
        (rack.link.loss > 0, "rack.link.loss: real links lose what they lose; leave it out"),
        (
            rack.switch.pfc is not None,
            "rack.switch.pfc: priority flow control is the switch's and the NIC's, which Ansible's role host_qos sets; "
            "leave it out",
        ),
        (
            rack.switch.tables is not None,
            "rack.switch: the lab's switches have the queues that they have; leave it out",
        ),
        (
            bool((experiment.plan.tos != USUAL_TOS).any()) or rack.nic != Nic(),
            "traffic.dscp, packets, rack.nic: the lab's hosts send what its switches are set up for: DSCP 26 "
            "with ECN, CNPs with 48; leave them out",
        ),
        (
            experiment.tuner.name != DEFAULT_TUNER,
            f"tuner: {experiment.tuner.name} runs in the rack's switches; the lab's have what Ansible's role "
            "switch_ecn gave them; leave it out",
        ),
        (
            bool(experiment.plan.waits.any()),
            "traffic: flows that start when others have finished, elsewhere, would wait for the control channel; "
            "choose another pattern",
        ),
        (
            Signal.INT in controller.form.signals and not inventory.common.testbed_int_hops,
            f"controller: {controller.name} decides by INT, which the lab's switches do not write; choose one that "
            "does without, or set testbed_int_hops in the inventory if they write ours",
        ),
        (
            Signal.SRC in controller.form.signals,
            f"controller: {controller.name} wants SRCs, which no lab's switches send; choose one that does without",
        ),
    ]
    reasons = [reason for is_so, reason in refused if is_so]
    if reasons:
        raise BadInput(f"{experiment.name} cannot run over {inventory.file}:\n  " + "\n  ".join(reasons))
