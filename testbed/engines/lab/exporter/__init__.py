"""A host's Prometheus exporter: active settings, drift from the rollout, PCC, counters of its NICs."""
