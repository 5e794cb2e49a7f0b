"""What a terminal shows of a run."""

from __future__ import annotations

import copy
from collections import deque

import pytest
from rich.console import Console

from testbed.live.terminal import View, interesting, sparkline
from tests.support.replayed import EVENTS, of_queues, of_two_controllers, of_two_jobs


def test_the_interesting_flows() -> None:
    goodput = [float(10 * i) for i in range(20)]
    assert interesting(goodput, 30) == list(range(19, -1, -1))
    assert interesting(goodput, 7) == [19, 18, 11, 10, 9, 1, 0]
    for room in range(1, 20):
        chosen = interesting(goodput, room)
        assert len(set(chosen)) == room
        assert chosen == sorted(chosen, reverse=True)


def test_a_burst_does_not_flatten_the_sparkline() -> None:
    assert sparkline(deque([0.0, 1.0, 2.0]), 9) == "▁▅█"
    assert sparkline(deque(), 9) == ""
    assert sparkline(deque([0.0, 0.0]), 9) == "▁▁"
    assert sparkline(deque([1000.0, 1.0, 2.0, 1.0, 2.0, 1.0]), 5) == "▅█▅█▅"
    assert sparkline(deque([1000.0, 2.0, 2.0, 2.0]), 4) == "█▃▃▃"


@pytest.mark.parametrize(("share", "text"), [(0.0, "0.0 %"), (1e-5, "< 0.1 %"), (0.00224, "0.2 %"), (1.0, "100.0 %")])
def test_a_share_that_is_not_0_is_not_told_as_0(share: float, text: str) -> None:
    view = View()
    for event in copy.deepcopy(EVENTS):
        if event["event"] == "update":
            event["data"]["ports"]["utilisation"] = [share] * len(event["data"]["ports"]["utilisation"])
        if event["event"] != "end":
            view.hear(event["event"], event["data"])
    assert f"utilisation {text} " in view.line()


@pytest.mark.parametrize("columns", [100, 50])
def test_each_of_several_controllers_has_its_share(columns: int) -> None:
    view, console = View(), Console(width=columns, height=24)
    for event in of_two_controllers():
        if event["event"] != "end":
            view.hear(event["event"], event["data"])
    assert "shares dctcp 70.0 %, nscc 30.0 %" in view.line()
    with console.capture() as captured:
        console.print(view)
    lines = captured.get().splitlines()
    for name, share in (("dctcp", "70.0 %"), ("nscc ", "30.0 %")):
        assert any(line.startswith(f"{name}  share  {share}  goodput") for line in lines)


def test_the_queues_of_the_bottleneck_have_a_line_each() -> None:
    view, console = View(), Console(width=130, height=24)
    for event in of_queues():
        if event["event"] != "end":
            view.hear(event["event"], event["data"])
    with console.capture() as captured:
        console.print(view)
    lines = [line.rstrip() for line in captured.get().splitlines() if line.startswith("q")]
    assert lines[1:] == [
        "q3 rdma  queue    12 kB  highest    90 kB  sends  75.0 %  marked  12.5 %  drops so far 3  held 400 us",
        "q7 cnp   queue      0 B  highest     64 B  sends   1.0 %  marked   0.0 %  drops so far 0  held 0 ns",
    ]


def test_jobs_tell_what_they_have_done() -> None:
    view, console = View(), Console(width=120, height=24)
    for event in of_two_jobs():
        if event["event"] != "end":
            view.hear(event["event"], event["data"])
    assert "iterations ring 5/8, training 0/3  " in view.line()
    with console.capture() as captured:
        console.print(view)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    assert "ring      iterations 5 of 8  the last 2 ms  straggler 1.250  bus bandwidth 64 Gbit/s" in lines
    assert "training  iterations 0 of 3  the last -  straggler -  bus bandwidth -" in lines
