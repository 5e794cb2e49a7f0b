"""Nested settings as dotted keys."""

from __future__ import annotations

from testbed.results.flat import flat


def test_lists_are_one_value_and_text_stays_text() -> None:
    nested = {"time": {"duration": "10 ms", "factor": 2.0}, "flows": [{"src": "h1"}], "label": None, "empty": {}}
    assert flat(nested) == {
        "time.duration": "10 ms",
        "time.factor": "2.0",
        "flows": '[{"src": "h1"}]',
        "label": "null",
    }
