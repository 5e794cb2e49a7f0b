"""Names of metrics."""

from __future__ import annotations

from tests.support.exported import BY_RUNS


def test_names_follow_the_conventions() -> None:
    """https://prometheus.io/docs/practices/naming/: one prefix, base units, and counters end in _total."""
    units = (
        "_bytes",
        "_seconds",
        "_ratio",
        "_packets",
        "_info",
        "_timeouts",
        "_cnps",
        "_naks",
        "_flows",
        "_frames",
        "_per_second",
        "_decisions",
        "_refusals",
        "_iterations",
    )
    for name in BY_RUNS:
        assert name.startswith("testbed_")
        assert name.removesuffix("_total").endswith(units), name
