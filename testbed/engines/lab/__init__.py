"""Experiments on real hosts: `testbed run --inventory` on the operator's machine, `testbed agent` on each host.

operator    the operator's end of a run           exporter    a host's settings and counters for Prometheus
host        the host's end of a run               switch      a Linux box as switch
protocol    what both ends know
"""
