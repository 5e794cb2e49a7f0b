"""Counters that tests let grow, read at most every 10 ms, as the driver caches them."""

from __future__ import annotations

import time

from tests.emulated_lab.store import State

LIFESPAN = 0.010  # s
HARDWARE = (
    "duplicate_request", "implied_nak_seq_err", "lifespan", "local_ack_timeout_err", "np_cnp_sent",
    "np_ecn_marked_roce_packets", "out_of_buffer", "out_of_sequence", "packet_seq_err", "req_cqe_error",
    "req_cqe_flush_error", "req_remote_access_errors", "req_remote_invalid_request", "resp_cqe_error",
    "resp_cqe_flush_error", "resp_local_length_error", "resp_remote_access_errors", "rnr_nak_retry_err",
    "roce_adp_retrans", "roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_cnps",
    "roce_slow_restart_trans", "rp_cnp_handled", "rp_cnp_ignored", "rx_atomic_requests", "rx_icrc_encapsulated",
    "rx_read_requests", "rx_write_requests",
)  # fmt: skip
PORT = (
    "excessive_buffer_overrun_errors", "link_downed", "link_error_recovery", "local_link_integrity_errors",
    "port_rcv_constraint_errors", "port_rcv_data", "port_rcv_errors", "port_rcv_packets",
    "port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors", "port_xmit_constraint_errors",
    "port_xmit_data", "port_xmit_discards", "port_xmit_packets", "port_xmit_wait", "symbol_error",
    "multicast_rcv_packets", "multicast_xmit_packets", "unicast_rcv_packets", "unicast_xmit_packets", "VL15_dropped",
)  # fmt: skip


def value(state: State, name: str, now: float | None = None) -> int:
    """Of a counter of any kind at a monotonic time; 0 if nothing was ever counted."""
    counter: dict[str, float] | None = state["counters"].get(name)
    if counter is None:
        return 0
    seen = (time.monotonic() if now is None else now) // LIFESPAN * LIFESPAN  # if before `since`: not grown yet
    return round(counter["base"] + counter["rate"] * max(0.0, seen - counter["since"]))


def tell(state: State, name: str, add: int = 0, rate: float | None = None) -> None:
    """Have a counter jump by ``add``, and from now on grow by ``rate`` per second (None: as before)."""
    before = state["counters"].get(name, {"base": 0, "rate": 0.0, "since": 0.0})
    base = value(state, name) + add
    growth = before["rate"] if rate is None else rate
    state["counters"][name] = {"base": base, "rate": growth, "since": time.monotonic()}
