"""Measures what `make bench` reports; docs/bench.md describes it."""
