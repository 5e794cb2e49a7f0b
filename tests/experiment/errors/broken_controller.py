"""A plugin that cannot be loaded: a golden case of tests/experiment/test_messages.py."""

raise RuntimeError("not today")
