"""Measures what `make bench` reports; docs/bench.md says what and how."""
