"""Every metric of a host's exporter: name, meaning, labels. The documentation is made of this table.

Names that a run has too mean the same here, so that dashboards show both: a host's port is its device, dilation is 1.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, NamedTuple


class Described(NamedTuple):
    """One metric; counters are named without ``_total``, as the client library wants them."""

    kind: Literal["counter", "gauge"]
    name: str
    labels: tuple[str, ...]
    help: str

    @property
    def asked(self) -> str:
        """As a query uses it."""
        return f"{self.name}_total" if self.kind == "counter" else self.name


counter, gauge = partial(Described, "counter"), partial(Described, "gauge")

PHASES = (
    *("idle", "preflight", "snapshot", "armed", "apply", "verify", "soak"),
    *("promoted", "rollback", "rolled_back", "failed", "unknown"),
)
STATES = ("active", "standby", "deactivated", "error", "gone")

DCQCN = gauge("testbed_dcqcn_parameter", ("device", "name"), "An active DCQCN setting, in its own unit.")
PCC_PARAMETER = gauge("testbed_pcc_parameter", ("device", "slot", "name"), "An active parameter of a NIC's algorithm.")
PCC_COUNTER = counter("testbed_pcc_counter", ("device", "slot", "name"), "A counter of a NIC's algorithm.")
PCC_STATE = gauge(
    "testbed_pcc_process_state",
    ("device", "state"),
    "1 for the NIC's program's state; gone: no process.",
)
POLICY = gauge("testbed_policy_info", ("controller", "version", "sha256"), "1; the policy that was installed last.")
PHASE = gauge("testbed_deploy_phase", ("phase",), "1 for the phase that the rollout is in.")
LAST_APPLY = gauge("testbed_last_apply_timestamp_seconds", (), "Unix time at which settings were last applied.")
DRIFT = gauge(
    "testbed_setting_drift",
    ("device", "name"),
    "1 where a setting is not as rolled out, or cannot be read.",
)
ERRORS = counter("testbed_scrape_errors", ("file",), "Readings that failed; the others were served.")
AGE = gauge("testbed_registers_age_seconds", (), "Since the NICs' registers were read; +Inf: never.")
PAUSE_FRAMES = counter(
    "testbed_nic_pause_frames",
    ("device", "priority", "direction"),
    "PFC frames; rx: the far end paused us, tx: we paused it.",
)
PAUSED = counter(
    "testbed_nic_paused_seconds", ("device", "priority", "direction"), "Time paused; directions as frames."
)

BUILD = gauge("testbed_build_info", ("version",), "The version of testbed that runs.")
DILATION = gauge("testbed_dilation_ratio", (), "Wall seconds per nominal second: 1 on a host.")
TIME = gauge("testbed_nominal_time_seconds", (), "A host's own time: seconds since it was started.")
CAPACITY = gauge("testbed_port_capacity_bytes_per_second", ("port",), "Rate of the port's link.")
TX_BYTES = counter("testbed_port_tx_bytes", ("port",), "Bytes that left the port.")
TX_PACKETS = counter("testbed_port_tx_packets", ("port",), "Packets that left the port.")
DROPPED = counter("testbed_port_dropped_packets", ("port",), "Packets that the port discarded.")
PORT_PAUSES = counter("testbed_port_pause_frames", ("port",), "PFC frames that the port sent.")
PORT_PAUSED = counter("testbed_port_paused_seconds", ("port",), "Time for which the port held its far end.")
AS_A_RUN = (BUILD, DILATION, TIME, CAPACITY, TX_BYTES, TX_PACKETS, DROPPED, PORT_PAUSES, PORT_PAUSED)

HARDWARE = {
    "rp_cnp_handled": "CNPs that slowed a sender down, with those of slow restart.",
    "rp_cnp_ignored": "CNPs that the sender's NIC ignored.",
    "np_cnp_sent": "CNPs that the receiver's NIC sent.",
    "np_ecn_marked_roce_packets": "RoCE packets that came in with CE.",
    "roce_slow_restart_cnps": "CNPs that slow restart made up, without congestion.",
    "roce_slow_restart": "Slow restarts.",
    "out_of_sequence": "Packets that came out of order.",
    "packet_seq_err": "NAKs for packets out of order that came in.",
    "implied_nak_seq_err": "Answers that skipped a packet.",
    "local_ack_timeout_err": "Retransmission timeouts.",
    "duplicate_request": "Requests that came twice.",
    "rnr_nak_retry_err": "NAKs of a receiver that was not ready.",
    "out_of_buffer": "Packets dropped for want of a receive buffer.",
    "roce_adp_retrans": "Adaptive retransmissions.",
    "roce_adp_retrans_to": "Timeouts of adaptive retransmission.",
    "rx_icrc_encapsulated": "RoCE packets with a bad checksum.",
}
"""Counters below ``hw_counters`` of a device, by the driver's own names."""


def hardware(name: str) -> Described:
    """The metric of a hardware counter."""
    return counter(f"testbed_nic_{name}", ("device",), HARDWARE[name])


OWN = (
    *(DCQCN, PCC_PARAMETER, PCC_COUNTER, PCC_STATE, POLICY, PHASE, LAST_APPLY, DRIFT, ERRORS, AGE),
    *(PAUSE_FRAMES, PAUSED),
    *(hardware(name) for name in HARDWARE),
)
"""What only hosts have."""
