"""`ethtool -S` and `ethtool -i` of the card's interface."""

from __future__ import annotations

import sys

from tests.emulated_lab import counters
from tests.emulated_lab.cards import CARDS
from tests.emulated_lab.store import State, Store

PER_PRIORITY = ("rx_prio{}_bytes", "rx_prio{}_packets", "tx_prio{}_bytes", "tx_prio{}_packets", "rx_prio{}_discards",
                "rx_prio{}_buf_discard", "rx_prio{}_cong_discard", "rx_prio{}_marked")  # fmt: skip
WITH_PFC = ("rx_prio{}_pause", "rx_prio{}_pause_duration", "rx_prio{}_pause_transition",
            "tx_prio{}_pause", "tx_prio{}_pause_duration")  # fmt: skip
OF_PORT = ("rx_packets_phy", "tx_packets_phy", "rx_bytes_phy", "tx_bytes_phy", "rx_discards_phy", "tx_discards_phy",
           "rx_pause_ctrl_phy", "tx_pause_ctrl_phy", "tx_pause_storm_warning_events", "tx_pause_storm_error_events",
           "rx_out_of_buffer", "outbound_pci_stalled_rd", "outbound_pci_stalled_wr")  # fmt: skip


def main(arguments: list[str], store: Store) -> int:
    state = store.read()
    if len(arguments) != 2 or arguments[1] != state["interface"]:
        print("no such device, or an option that this lab's ethtool does not know", file=sys.stderr)
        return 1
    if arguments[0] in ("-S", "--statistics"):
        print("NIC statistics:")
        for name in names(state):
            print(f"     {name}: {counters.value(state, name)}")
        return 0
    if arguments[0] in ("-i", "--driver"):
        card = CARDS[state["card"]]
        version = "24.10-1.1.4" if state["driver"] == "ofed" else "6.8.0"
        print(f"driver: mlx5_core\nversion: {version}\nfirmware-version: {card.firmware} ({card.psid})")
        print(f"bus-info: {state['pci']}")
        return 0
    print("ethtool: bad command line argument(s)", file=sys.stderr)
    return 1


def names(state: State) -> list[str]:
    """Pause counters exist only of priorities that have PFC."""
    found = list(OF_PORT)
    for priority in range(8):
        kinds = PER_PRIORITY + (WITH_PFC if state["qos"]["pfc"][priority] else ())
        found += [kind.format(priority) for kind in kinds]
    return found
