"""What a host says of itself to Prometheus: settings in force, drift against the rollout, PCC, counters of its NICs."""
