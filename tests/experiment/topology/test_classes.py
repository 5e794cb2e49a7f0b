"""Classes and queues: the tables that follow from what a file says."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.experiment.model import Experiment
from testbed.experiment.topology.any_rack import Switch
from testbed.experiment.topology.classes import Classes
from testbed.experiment.topology.queues import OwnRed

BULK = {"dscp": ["0-7", 10], "queue": 0}
RDMA = {"dscp": [24, 26], "queue": 3}


def _tables(**switch: Any) -> Classes:
    found = Switch.model_validate(switch).tables
    assert found
    return found


def test_without_classes_a_port_is_one_plain_queue() -> None:
    assert Switch().tables is None


def test_a_dscp_finds_its_queue() -> None:
    made = _tables(classes={"bulk": BULK, "rdma": RDMA})
    queue_of = made.queue_of
    assert [dscp for dscp in range(64) if queue_of[dscp] == 3] == [24, 26]
    assert made.names_in(3) == "rdma"


def test_a_dscp_that_no_class_names_is_of_the_default_class() -> None:
    classes = {"bulk": BULK, "rdma": RDMA}
    assert _tables(classes=classes).queue_of[63] == 0  # the first
    assert _tables(classes=classes, default_class="rdma").queue_of[63] == 3


def test_a_class_has_the_group_of_its_queue_unless_it_says_another() -> None:
    made = _tables(classes={"bulk": {**BULK, "group": 1}, "rdma": RDMA})
    assert made.group == (1, 3)


def test_marking_at_dequeue_needs_no_class() -> None:
    made = _tables(marking="dequeue")
    assert made.at_dequeue
    assert set(made.queue_of) == {0}


def test_what_is_written_is_read_again() -> None:
    queues = {"0": {"weight": 14}, "3": {"red": {"kmin": "1 MB", "kmax": "2 MB", "pmax": "5 %"}, "wred": "on"}}
    strict = {"name": {"dscp": 48, "queue": 5}}
    switch = Switch.model_validate(
        {"classes": {"bulk": BULK, "rdma": RDMA, **strict}, "queues": {**queues, "5": {"schedule": "strict"}}}
    )
    assert Switch.model_validate(switch.model_dump(mode="json")) == switch
    red = switch.queues[3].red
    assert isinstance(red, OwnRed)
    assert (red.kmin, red.kmax, red.pmax) == (1e6, 2e6, 0.05)


def _plan_tos(**more: Any) -> list[int]:
    traffic = {"pattern": "incast", "senders": 3, **more.pop("traffic", {})}
    data = {"traffic": traffic, "controller": "dcqcn", "engine": "virtual", **more}
    return Experiment.model_validate(data).plan.tos.tolist()


@pytest.mark.parametrize(
    ("said", "tos"),
    [
        ({}, [26 << 2 | 2] * 3),
        ({"traffic": {"dscp": 8, "ecn": "off"}}, [8 << 2] * 3),
        (
            {"packets": [{"of": {"hosts": ["h2"]}, "ecn": "off"}, {"of": {"flows": [1, 2]}, "dscp": 1, "ecn": "on"}]},
            [26 << 2 | 2, 1 << 2, 1 << 2 | 2],
        ),
    ],
)
def test_headers_of_flows(said: dict[str, Any], tos: list[int]) -> None:
    assert _plan_tos(**said) == tos


def test_a_pattern_within_another_has_what_the_outer_one_says() -> None:
    parts = [{"pattern": "incast", "senders": 1}, {"pattern": "incast", "senders": 1, "dscp": 8}]
    data = {
        "traffic": {"pattern": "mix", "parts": parts, "dscp": 24, "ecn": "off"},
        "controller": "dcqcn",
        "engine": "virtual",
    }
    assert sorted(Experiment.model_validate(data).plan.tos.tolist()) == [8 << 2, 24 << 2]
