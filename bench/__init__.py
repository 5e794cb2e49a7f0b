"""Measures what `make bench` reports; docs/findings/bench.md describes it."""
