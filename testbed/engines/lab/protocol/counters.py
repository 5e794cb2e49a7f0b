"""Names of the counters in a host's reports."""

RECEIVED = ("packets", "ce", "cnps", "reorders")  # per flow, by the receiving NIC
SENT = ("packets", "acks", "cnps", "ce_echoes", "ring_full")  # per flow, by the sending NIC
INTERFACE = ("rx_bytes", "rx_packets", "ce")
