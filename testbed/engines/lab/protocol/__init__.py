"""What both ends of a lab run's control channel know: messages, a host's configuration, names of counters."""
