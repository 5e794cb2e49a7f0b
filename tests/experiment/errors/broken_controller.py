"""A plugin that cannot be loaded: a golden case of tests/experiment/test_load.py."""

raise RuntimeError("not today")
