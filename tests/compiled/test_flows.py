"""A controller per flow behind the interface of the batch form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testbed.compiled.flows import CompiledFlows, build
from testbed.controller import Ack, CompiledController, IntStack, Path, Signal
from testbed.errors import BadInput
from testbed.plugin import PluginConfig
from testbed.registry import find
from tests.support.rows import WIRE, feedback, paths


class Diary(CompiledController):
    """Writes down what it is told: more than can be compiled."""

    compiled = False

    name = "diary"
    signals = Signal.INT | Signal.CNP | Signal.TX

    def __init__(self, config: PluginConfig, path: Path) -> None:
        super().__init__(config, path)
        self.told: list[Any] = []
        self.rate, self.window, self.timer = 1e9, 5000.0, 7e-6

    def on_ack(self, ack: Ack) -> None:
        self.told.append(ack)
        self.rate = 2e9

    def on_cnp(self, now: float) -> None:
        self.told.append(("cnp", now))

    def on_loss(self, now: float, packets: int) -> None:
        self.told.append(("loss", now, packets))

    def on_timeout(self, now: float, packets: int) -> None:
        self.told.append(("timeout", now, packets))
        self.window = 1000.0

    def on_timer(self, now: float) -> None:
        self.told.append(("timer", now))
        self.timer = now + 1

    def on_sent(self, now: float, sent_bytes: int) -> None:
        self.told.append(("sent", now, sent_bytes))


def made(flows: int = 3) -> CompiledFlows:
    one = build(Diary, PluginConfig(), paths(flows, hops=2))
    assert isinstance(one, CompiledFlows)
    one.on_start(0.0, np.arange(flows))
    return one


def diary(controller: CompiledFlows, flow: int) -> list[Any]:
    assert controller.objects
    one = controller.objects.flows[flow]
    assert isinstance(one, Diary)
    return one.told


def test_start_makes_one_object_per_flow_and_publishes_it() -> None:
    controller = build(Diary, PluginConfig(), paths(3))
    controller.on_start(0.0, np.array([1]))
    assert controller.rate.tolist() == [1e9] * 3  # what __init__ sets, of those that have not started as well
    assert controller.window.tolist() == [5000.0] * 3
    assert controller.timer.tolist() == [7e-6] * 3
    assert isinstance(controller, CompiledFlows)
    path = controller.by_flow[1]
    assert path == Path(100e9, 8e-6, 8e-6, 1, WIRE - 100, WIRE)


def test_start_again_is_a_new_object() -> None:
    controller = made()
    controller.on_timer(1.0, np.array([0]))
    controller.on_start(2.0, np.array([0]))
    assert diary(controller, 0) == []
    assert controller.timer[0] == 7e-6


def test_one_row_becomes_callbacks_in_order() -> None:
    controller = made()
    row = feedback(acked_packets=4, lost_packets=2, cnps=2, ce_packets=3, acked_seq=9, next_seq=20,
                   inflight=7000, rtt=9e-6)  # fmt: skip
    controller.on_feedback(1.0, np.array([2]), row)
    loss, ack, *rest = diary(controller, 2)
    assert loss == ("loss", 1.0, 2)
    assert rest == [("cnp", 1.0), ("cnp", 1.0)]
    assert ack == Ack(1.0, 4, 4 * WIRE, 9, 20, 7000, 9e-6, 3, ())
    assert (controller.rate[2], controller.window[2]) == (2e9, 5000)
    assert diary(controller, 0) == diary(controller, 1) == []
    assert controller.rate[0] == 1e9


def test_what_a_timeout_takes_for_lost_is_neither_a_loss_nor_an_ack() -> None:
    controller = made()
    controller.on_feedback(1.0, np.array([0]), feedback(timeouts=1, lost_packets=7))
    assert diary(controller, 0) == [("timeout", 1.0, 7)]


def test_rows_go_to_their_flows_with_their_hops() -> None:
    controller = made()
    columns = np.arange(2 * 5 * 4, dtype=float).reshape(4, 2, 5)
    stack = IntStack(np.array([2, 0]), np.arange(10).reshape(2, 5), *columns)
    controller.on_feedback(1.0, np.array([2, 0]), feedback(2, stack=stack, acked_packets=1, rtt=1e-5))
    hops = diary(controller, 2)[0].int_stack
    assert [(hop.node, hop.ts, hop.tx_bytes, hop.queue, hop.rate) for hop in hops] == [
        (0, 0.0, 10.0, 20.0, 30.0),
        (1, 1.0, 11.0, 21.0, 31.0),
    ]
    assert type(hops[0].node) is int
    assert type(hops[0].ts) is float
    assert diary(controller, 0)[0].int_stack == ()
    assert diary(controller, 1) == []


def test_timer_and_sent() -> None:
    controller = made()
    controller.on_timer(3.0, np.array([1]))
    controller.on_sent(4.0, np.array([0, 1]), np.array([1000, 3000]))
    assert diary(controller, 0) == [("sent", 4.0, 1000)]
    assert diary(controller, 1) == [("timer", 3.0), ("sent", 4.0, 3000)]
    assert controller.timer.tolist() == [7e-6, 4.0, 7e-6]


def test_batch_form_is_built_as_it_is() -> None:
    plugin = find("controller", "adpg-int8")
    assert type(build(plugin.form, plugin.configure(None, {}), paths())) is plugin.form


def test_defaults_of_the_interface() -> None:
    assert Diary.adaptive is True
    assert Diary.cnp_interval(PluginConfig()) == 50e-6


def test_a_callback_that_takes_something_else_is_named_with_its_line() -> None:
    class Old(Diary):
        def on_timeout(self, now: float) -> None:  # type: ignore[override]
            self.window = now

    line = Old.on_timeout.__code__.co_firstlineno
    with pytest.raises(BadInput, match=rf"test_flows\.py, line {line}: expected on_timeout\(self, now, packets\)"):
        build(Old, PluginConfig(), paths())


def test_a_misspelt_attribute_is_an_error_that_names_the_near_one() -> None:
    class Slip(Diary):
        cuts = 0  # of the class: there before anything is set

        def on_loss(self, now: float, packets: int) -> None:  # noqa: ARG002 - the interface
            self.cuts += 1
            self.windw = now

    per_flow = build(Slip, PluginConfig(), paths(1, hops=2))
    per_flow.on_start(0.0, np.array([0]))
    with pytest.raises(AttributeError, match=r"self\.windw is not set in __init__; did you mean 'window'"):
        per_flow.on_feedback(1.0, np.array([0]), feedback(1, lost_packets=1))
    assert isinstance(per_flow, CompiledFlows)
    assert per_flow.objects
    assert per_flow.objects.flows[0].cuts == 1  # type: ignore[union-attr]
