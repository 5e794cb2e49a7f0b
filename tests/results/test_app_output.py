"""Figures in what apps print: rates and times are nominal, and what is not there is left out."""

from __future__ import annotations

import json

import pytest

from testbed.experiment.apps import App
from testbed.results.app_output import figures, iperf3, perftest


def app(**keys: object) -> App:
    return App.model_validate({"name": "x", "hosts": ["h1"], "run": "x", **keys})


def found(printed: str, dilation: float = 1000.0, **keys: object) -> dict[str, tuple[float, str]]:
    return {one.name: (one.value, one.unit) for one in figures(app(**keys), printed, dilation)}


def iperf(**end: object) -> str:
    return "warning: something\n" + json.dumps({"start": {}, "end": end}) + "\n"


def test_iperf3_is_nominal() -> None:
    streams = [{"sender": {"mean_rtt": 2000}}, {"sender": {"mean_rtt": 4000}}]
    printed = iperf(
        streams=streams,
        sum_sent={"bits_per_second": 9e7, "bytes": 2e6, "retransmits": 3},
        sum_received={"bits_per_second": 8e7, "bytes": 1e6},
    )
    assert found(printed, reads="iperf3") == {
        "goodput": (8e10, "bit/s"), "bytes": (1e6, "B"), "retransmits": (3, ""), "rtt": (pytest.approx(3e-6), "s"),
    }  # fmt: skip


def test_iperf3_that_was_interrupted_knows_what_it_sent() -> None:
    printed = iperf(sum_sent={"bits_per_second": 9e7, "bytes": 2e6}, sum_received={"bits_per_second": 0, "bytes": 0})
    assert iperf3(printed) == [("goodput", 9e7, "bit/s"), ("bytes", 2e6, "B")]


@pytest.mark.parametrize("printed", ["", "iperf3: error", '{"start": {}, "end": {}}', '{"end": 3}', "{"])
def test_iperf3_without_a_result(printed: str) -> None:
    assert iperf3(printed) == []


def test_perftest_bandwidth() -> None:
    printed = """
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 2          1000           0.20               0.10                 6.0
 65536      1000             0.097              0.09               0.5
---------------------------------------------------------------------------------------
"""
    told = found(printed, reads="perftest")
    assert told == {
        "peak": (pytest.approx(97e9), "bit/s"), "goodput": (pytest.approx(90e9), "bit/s"), "messages": (5e8, "1/s"),
    }  # fmt: skip


def test_perftest_latency() -> None:
    printed = """
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
 2       1000          1000.0           9000.0         2000.0                 2500.0           1.0            5000.0                    8000.0
"""  # noqa: E501 - as it is printed
    told = {name: value for name, (value, _) in found(printed, reads="perftest").items()}
    assert told == pytest.approx({
        "latency_min": 1e-6, "latency_max": 9e-6, "latency_typical": 2e-6, "latency_mean": 2.5e-6,
        "latency_p99": 5e-6, "latency_p999": 8e-6,
    })  # fmt: skip
    assert perftest("#bytes #iterations t_min[usec]\n") == []


def test_the_last_number_that_a_pattern_finds() -> None:
    asked = [
        {"name": "requests", "pattern": "Requests/sec: +([0-9,.]+)", "kind": "rate", "unit": "1/s"},
        {"name": "waited", "pattern": "waited ([0-9.]+) s", "kind": "time", "unit": "s"},
        {"name": "errors", "pattern": "errors ([0-9]+)"},
        {"name": "word", "pattern": "word (.+)"},
    ]
    printed = "Requests/sec: 10\nRequests/sec: 1,200.5\nwaited 3 s\nword none\n"
    assert found(printed, figures=asked) == {"requests": (1_200_500.0, "1/s"), "waited": (0.003, "s")}
