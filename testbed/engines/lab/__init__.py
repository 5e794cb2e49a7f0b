"""Experiments on real hosts: `testbed run --inventory` on the operator's machine, `testbed agent` on each host."""
