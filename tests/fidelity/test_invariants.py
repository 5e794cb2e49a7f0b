"""Counters of a healthy run pass; each kind of wrong is named, and nothing else with it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testbed.agent.identity import Identity
from testbed.fidelity import invariants
from testbed.fidelity.counters import AppCounts, Counts, FlowCounts, PauseCounts, PortCounts, RecoveryCounts
from testbed.fidelity.invariants import broken

WANTED = Identity("dcqcn", "Dcqcn", str(Path("/there/dcqcn.py")), "ab" * 32)


def healthy() -> Counts:
    """Two flows, h1 and h2 to h3. Of flow 1, the port towards h3 dropped 5 packets and that towards h2 an answer."""
    flows = FlowCounts(
        src_port=np.array([0, 1]),
        dst_port=np.array([2, 2]),
        alike=np.array([0, 1]),
        agent_sent=np.array([100, 50]),
        agent_acked=np.array([98, 44]),
        agent_cnps=np.array([2, 1]),
        agent_ce=np.array([7, 4]),
        nic_sent=np.array([100, 50]),
        lost=np.array([0, 0]),
        answers_lost=np.array([0, 0]),
        nic_acks=np.array([100, 44]),
        nic_cnps=np.array([2, 1]),
        nic_ce=np.array([7, 4]),
        received=np.array([100, 45]),
        answered=np.array([100, 45]),
        received_ce=np.array([7, 5]),
        sent_ce=np.array([0, 0]),
        cnps_made=np.array([2, 1]),
        ring_full=np.array([0, 0]),
        unread=np.array([2, 0]),
    )
    ports = PortCounts(
        name=["s1-eth1", "s1-eth2", "s1-eth3"],
        enqueued=np.array([102, 45, 145]),
        marked=np.array([0, 0, 12]),
        dropped=np.array([0, 1, 5]),
        tx_bytes=np.array([7e3, 3e3, 150e3]),
        rate=np.full(3, 100e9),
        switch=["s1"] * 3,
        far=np.full(3, -1),
        arrived=np.array([102, 45, 145]),
    )
    return Counts(
        flows=flows,
        ports=ports,
        duration=20e-6,
        loaded_plugins=[WANTED, WANTED],
        wanted=[WANTED],
        int_faults=0,
        queue_difference=3000.0,
        queue_tolerance=8000.0,
    )


def with_flow(name: str, flow: int, more: int) -> Counts:
    counts = healthy()
    getattr(counts.flows, name)[flow] += more
    return counts


def test_a_healthy_run_breaks_nothing() -> None:
    assert broken(healthy()) == []


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        ("agent_sent", 3, "packets sent by agents did not leave their hosts: 3 packets of 1 flows"),
        ("agent_acked", -2, "feedback at the senders' NICs was not read: 2 packets"),
        (
            "agent_acked",
            1,
            "agents read feedback that their NICs did not receive: 1 packets of 1 flows, the first is flow 0",
        ),
        ("received", -1, "packets are not conserved at s1-eth3: 6 packets missing, 5 dropped by the model"),
        ("received_ce", 2, "CE marks set and received differ at s1-eth3: 12 and 14"),
        ("nic_ce", -1, "CE marks received and echoed differ: 1 flows"),
        ("nic_ce", 1, "CE marks received and echoed differ: 1 flows"),
        ("cnps_made", 1, "packets are not conserved at s1-eth1: 1 packets missing, 0 dropped"),
    ],
)
def test_wrong_flow_counts_are_named(name: str, more: int, expected: str) -> None:
    texts = [f"{one.what}: {one.how_much}" for one in broken(with_flow(name, 0, more))]
    assert any(text.startswith(expected) for text in texts), texts


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"int_faults": 9}, "INT records are out of order: 9 records"),
        ({"queue_difference": 9000.0}, "virtual queue and shaper differ: by 9000 bytes; a burst is 8000"),
        ({"duration": 10e-6}, "s1-eth3 exceeded its link rate: 1.200 of the rate"),
        ({"loaded_plugins": []}, "no controller identified: no agent"),
        (
            {"loaded_plugins": [WANTED, replace(WANTED, sha256="cd" * 32)]},
            "wrong controller: agent 1 ran Dcqcn",
        ),
        ({"loaded_plugins": [replace(WANTED, form="Fixed")]}, "wrong controller: agent 0 ran Fixed"),
    ],
)
def test_everything_else_is_named_alone(change: dict[str, Any], expected: str) -> None:
    (one,) = broken(replace(healthy(), **change))
    assert f"{one.what}: {one.how_much}".startswith(expected)


def test_drops_by_the_model_at_another_port_do_not_explain_a_loss() -> None:
    counts = healthy()
    counts.ports.dropped[:] = [5, 1, 0]
    assert [one.what for one in broken(counts)] == [
        "packets are not conserved at s1-eth1",
        "packets are not conserved at s1-eth3",
    ]


def lossless(**change: list[int]) -> Counts:
    """A run with priority flow control whose second port has paused its host once."""
    none, frames = [0, 0, 0], [0, 2, 0]
    columns = {
        "residual": none,
        "overrun": none,
        "sent": frames,
        "received": frames,
        "unsignalled": none,
        "resumed": [True] * 3,
    }
    pauses = PauseCounts(**{name: np.array(column) for name, column in (columns | change).items()})
    return replace(healthy(), pauses=pauses)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"overrun": [0, 0, 3]}, "packet drops despite PFC at s1-eth3: 3 packets exceeded the headroom"),
        ({"residual": [0, 90, 0]}, "ingress accounting of s1-eth2 is not zero: 90 bytes are left"),
        ({"received": [0, 1, 0]}, "PFC frames lost from s1-eth2: 2 sent, 1 received"),
        ({"unsignalled": [1, 0, 0]}, "PFC threshold crossings lost at s1-eth1: 1 events"),
        ({"resumed": [True, False, True]}, "s1-eth2 is still paused"),
    ],
)
def test_a_lossless_fabric_that_is_none_is_named(change: dict[str, list[int]], expected: str) -> None:
    assert broken(lossless()) == []
    (one,) = broken(lossless(**change))
    assert f"{one.what}: {one.how_much}".startswith(expected)


def recovered(**change: int) -> Counts:
    """`healthy` with go-back-N: of flow 1, 40 packets of 10 bytes were delivered, 2 twice, 3 discarded."""
    columns = {
        "delivered": 40, "delivered_bytes": 400, "duplicates": 2, "discarded": 3, "expected": 40, "kept": 0,
        "payload": 400, "naks": 2, "overtaken": 0, "marks": 0, "agent_expected": 40, "agent_payload": 400,
        "agent_naks": 1, "trims": 0, "agent_trims": 0,
    }  # fmt: skip
    in_all = {name: change.pop(name, 0) for name in ("trimmed", "trims_dropped")}
    first = dict.fromkeys(columns, 0) | dict.fromkeys(("delivered", "expected", "agent_expected"), 100)
    values = {name: np.array([first[name], value]) for name, value in (columns | change).items()}
    return replace(healthy(), recovery=RecoveryCounts(**values, **in_all, one_path=True))


def test_recovery_that_is_in_order_breaks_nothing() -> None:
    assert broken(recovered()) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"delivered": 39, "expected": 39, "agent_expected": 39, "payload": 400}, "packets came and were neither"),
        ({"duplicates": 3}, "more packets were delivered than came"),
        ({"expected": 39}, "packet numbers were delivered twice or left out: 1 packets"),
        ({"delivered_bytes": 410}, "packets were delivered with other bytes than were sent: 410 instead of 400"),
        ({"agent_expected": 41}, "packets were acknowledged that were not delivered"),
        ({"agent_payload": 401}, "bytes were acknowledged that were not delivered"),
        ({"naks": 3}, "NAKs were neither read nor lost"),
        ({"agent_naks": 3}, "agents read NAKs that no receiver made"),
        ({"trimmed": 1}, "headers of trimmed packets are missing: 1 trimmed, 0 came, 0 dropped"),
        ({"trimmed": 1, "trims_dropped": 2}, "headers of trimmed packets are missing"),
        (
            {
                "trims": 1,
                "delivered": 39,
                "expected": 39,
                "agent_expected": 39,
                "delivered_bytes": 390,
                "payload": 390,
                "agent_payload": 390,
                "trimmed": 1,
                "agent_trims": 2,
            },
            "agents read NACKs that no receiver made",
        ),
        ({"overtaken": 7}, "packets overtook each other on one path: 7 packets"),
    ],
)
def test_recovery_that_is_not_is_named(change: dict[str, int], expected: str) -> None:
    (one,) = broken(recovered(**change))
    assert f"{one.what}: {one.how_much}".startswith(expected)


def two_switches() -> Counts:
    """h1 at s1 to h2 at s2: 100 packets, of which s1 dropped 4 and the failed link lost 6; all ACKs came back."""
    marks = ("agent_ce", "nic_ce", "received_ce", "sent_ce")
    none = ("agent_cnps", "nic_cnps", *marks, "cnps_made", "ring_full", "unread")
    flow = replace(
        healthy().flows,
        **{name: np.array([0]) for name in none},
        **{name: np.array([100]) for name in ("agent_sent", "nic_sent")},
        **{name: np.array([0]) for name in ("lost", "answers_lost")},
        **{name: np.array([90]) for name in ("agent_acked", "nic_acks", "received", "answered")},
        src_port=np.array([0]),
        dst_port=np.array([2]),
        alike=np.array([-1]),
    )  # fmt: skip
    ports = PortCounts(
        name=["s1-eth1", "s1-eth2", "s2-eth1", "s2-eth2"],
        enqueued=np.array([90, 96, 90, 90]),
        marked=np.zeros(4, np.int64),
        dropped=np.array([0, 10, 0, 0]),
        tx_bytes=np.zeros(4),
        rate=np.full(4, 100e9),
        switch=["s1", "s1", "s2", "s2"],
        far=np.array([-1, 3, -1, 1]),
        arrived=np.array([90, 90, 90, 90]),
    )
    return replace(healthy(), flows=flow, ports=ports)


def test_packets_are_conserved_over_switches_and_links() -> None:
    assert broken(two_switches()) == []


@pytest.mark.parametrize(
    ("column", "port", "more", "expected"),
    [
        ("dropped", 1, -1, {"packets are not conserved in the rack", "packets are not conserved in s1"}),
        ("enqueued", 3, 1, {"packets lost on the link of s2-eth2"}),
        ("arrived", 0, -1, {"packets lost on the link of s1-eth1"}),
        ("marked", 2, 1, {"CE marks set and received differ at s2-eth1"}),
    ],
)
def test_what_a_larger_rack_loses_is_named(column: str, port: int, more: int, expected: set[str]) -> None:
    counts = two_switches()
    getattr(counts.ports, column)[port] += more
    assert expected <= {one.what for one in broken(counts)}


def overloaded(*lost: int, sent: int = 5000, alike: int = 0) -> Counts:
    """Flows of one host each to one port that drops these packets of them; nothing is marked."""
    count = len(lost)
    none, all_sent = np.zeros(count, np.int64), np.full(count, sent)
    received = all_sent - np.array(lost)
    marks = ("agent_ce", "nic_ce", "received_ce", "sent_ce")
    counters = dict.fromkeys(("agent_cnps", "nic_cnps", "cnps_made", *marks), none)
    flows = FlowCounts(
        **counters, lost=none, answers_lost=none, ring_full=none, unread=none, alike=np.full(count, alike),
        agent_sent=all_sent, nic_sent=all_sent, agent_acked=received, nic_acks=received, received=received,
        answered=received, src_port=np.arange(count), dst_port=np.full(count, count),
    )  # fmt: skip
    enqueued = np.append(received, received.sum())
    ports = PortCounts(
        name=[f"s1-eth{number + 1}" for number in range(count + 1)],
        enqueued=enqueued,
        marked=np.zeros(count + 1, np.int64),
        dropped=np.append(none, sum(lost)),
        tx_bytes=np.zeros(count + 1),
        rate=np.full(count + 1, 100e9),
        switch=["s1"] * (count + 1),
        far=np.full(count + 1, -1),
        arrived=enqueued,
    )
    return replace(healthy(), flows=flows, ports=ports)


def test_one_input_that_always_comes_first_is_named() -> None:
    """As two senders at line rate did, and three of a rack's: 438 of 12,000 packets lost, and 11,311, and 11,869."""
    (one,) = broken(overloaded(0, 2500))
    assert (one.what, one.how_much[:46]) == (
        "flows that are alike lost unequally",
        "flow 0 lost 0 packets, it and 1 others 1250 on",
    )
    assert [one.what for one in broken(overloaded(438, 11311, 11869, sent=12000))] == [one.what]


@pytest.mark.parametrize(
    "counts",
    [
        overloaded(1200, 1300),
        overloaded(0, 400),  # too few to tell
        overloaded(0, 2500, sent=50_000),  # the controller may have caused it
        overloaded(0, 2500, alike=-1),
    ],
)
def test_other_differences_of_losses_are_the_experiments(counts: Counts) -> None:
    assert broken(counts) == []


def wrecked() -> Iterator[Counts]:
    """Runs that break every invariant there is, each in all its ways."""
    for counts in (healthy(), two_switches()):
        for column in fields(counts.flows):
            for more in (-1, 1):
                harmed = deepcopy(counts)
                getattr(harmed.flows, column.name)[0] += more * (column.name not in ("src_port", "dst_port"))
                yield harmed
        for column in ("enqueued", "marked", "dropped", "arrived"):
            for port in range(len(counts.ports.name)):
                harmed = deepcopy(counts)
                getattr(harmed.ports, column)[port] += 3
                yield harmed
    odd = {"int_faults": 9, "queue_difference": 9000.0, "duration": 10e-6}
    yield replace(healthy(), **odd)
    yield replace(healthy(), loaded_plugins=[])
    yield replace(healthy(), loaded_plugins=[replace(WANTED, form="Fixed")])
    yield overloaded(0, 2500)
    for column in fields(recovered().recovery or object()):
        yield recovered(**{column.name: 50}) if column.name != "one_path" else recovered(overtaken=3)
    yield lossless(overrun=[1] * 3, residual=[1] * 3, received=[9] * 3, unsignalled=[1] * 3, resumed=[False] * 3)


def test_every_broken_invariant_names_what_to_do() -> None:
    reasons = {one.what: one.remedy for counts in wrecked() for one in broken(counts)}
    source = inspect.getsource(invariants)
    assert len({re.sub(r"\S*\d\S*", "", what) for what in reasons}) >= source.count("Reason(")  # all were made
    verbs = re.compile(r"\b(run it again|raise|leave|lower)\b")
    assert [what for what, remedy in reasons.items() if not verbs.search(remedy)] == []
    assert "raise --dilation" in reasons["virtual queue and shaper differ"]


def test_beside_apps_all_packets_are_compared_and_marks_of_flows_are_at_most_all() -> None:
    counts = healthy()
    entered = np.array([102, 51, 145])  # 298 came, 292 left, and 6 were dropped
    beside = replace(counts, apps=AppCounts(entered))
    assert broken(beside) == []
    more = replace(beside, ports=replace(counts.ports, marked=np.array([0, 3, 50])))
    assert broken(more) == []
    fewer = replace(beside, ports=replace(counts.ports, marked=np.array([0, 0, 11])))
    assert [one.what for one in broken(fewer)][:1] == ["CE marks set and received differ at s1-eth3"]
    lost = replace(counts, apps=AppCounts(entered + np.array([1, 0, 0])))
    assert [one.how_much for one in broken(lost)] == ["299 packets came, 298 left or were dropped by the model"]


def test_what_a_sender_has_marked_came_with_ce_though_no_port_marked_it() -> None:
    counts = healthy()
    sent = replace(counts.flows, received_ce=np.array([100, 5]), nic_ce=np.array([100, 4]), agent_ce=np.array([100, 4]))
    assert any("CE marks set and received differ at s1-eth3" in one.what for one in broken(replace(counts, flows=sent)))
    told = replace(sent, sent_ce=np.array([100, 0]))
    assert not any("CE" in one.what for one in broken(replace(counts, flows=told)))


def test_what_links_of_hosts_lose_is_no_loss_in_the_rack() -> None:
    """Flow 0 lost 3 packets before they came to the switch, and its receiver 2 answers."""
    counts = healthy()
    flows = replace(counts.flows, lost=np.array([3, 0]), answers_lost=np.array([2, 0]))
    assert [one.what for one in broken(replace(counts, flows=flows))] != []
    came = replace(flows, received=np.array([97, 45]), answered=np.array([97, 45]), nic_acks=np.array([95, 44]),
                   unread=np.array([0, 0]), agent_acked=np.array([95, 44]), received_ce=np.array([7, 5]))  # fmt: skip
    ports = replace(counts.ports, enqueued=np.array([97, 45, 142]), arrived=np.array([97, 45, 142]))
    assert broken(replace(counts, flows=came, ports=ports)) == []
