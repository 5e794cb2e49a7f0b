"""Errors: exit codes, and the hint that ends a message."""

from __future__ import annotations

from testbed.errors import BadInput, PluginFailed, TestbedError, nearest


def test_only_the_users_mistake_is_exit_code_2() -> None:
    assert (TestbedError.exit_code, PluginFailed.exit_code, BadInput.exit_code) == (1, 1, 2)


def test_the_nearest_value_is_suggested_and_all_are_listed() -> None:
    assert nearest("dcqn", ["swift", "dcqcn"]) == "did you mean 'dcqcn'? (allowed: dcqcn, swift)"
    assert nearest("bolt", ["swift", "dcqcn"]) == "allowed: dcqcn, swift"
    assert nearest("bolt", []) == "none is available"
