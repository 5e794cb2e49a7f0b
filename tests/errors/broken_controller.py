"""A plugin that cannot be loaded: a golden case of tests/test_experiment.py."""

raise RuntimeError("not today")
