"""The interfaces whose classes become machine code: their callbacks, and what each is told. As in decide.h."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from testbed.chooser import PathChooser
from testbed.controller import CompiledController
from testbed.errors import BadInput
from testbed.receiver import CreditController


@dataclass(frozen=True)
class Interface:
    """``events``: callbacks in the order of decide.h, with arguments made of what C passes: now, number, ack."""

    base: type[Any]
    decided: tuple[str, ...]  # every record begins with them
    events: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the callbacks: positions are C's numbers."""
        return tuple(self.events)

    def check(self, form: type[Any]) -> None:
        """Raises BadInput if a callback of ``form`` does not take what it is told."""
        for event in self.events:
            callback, takes = getattr(form, event), inspect.signature(getattr(self.base, event)).parameters
            try:
                inspect.signature(callback).bind(*takes)
            except TypeError:
                code = inspect.unwrap(callback).__code__
                raise BadInput(
                    f"{code.co_filename}, line {code.co_firstlineno}: expected {event}({', '.join(takes)})"
                ) from None


CONTROLLER = Interface(
    CompiledController,
    ("rate", "window", "timer"),
    {
        "on_start": "now",
        "on_ack": "ack",
        "on_cnp": "now",
        "on_loss": "now, number",
        "on_timeout": "now, number",
        "on_timer": "now",
        "on_sent": "now, number",
        "on_src": "now, ack.rtt, ack.hops[0].queue, ack.hops[0].rate",
    },
)
CHOOSER = Interface(
    PathChooser,
    ("entropy",),
    {
        "on_start": "now",
        "on_send": "now",
        "on_ack": "now, number, ack.ce_packets > 0, ack.rtt",
        "on_loss": "now, number",
        "on_timeout": "now, number",
    },
)
CREDITS = Interface(
    CreditController,
    ("window", "timer"),
    {"on_start": "now, ack.host", "on_arrival": "ack.arrival, ack.host", "on_timer": "now, ack.host"},
)
EVENTS = CONTROLLER.names


def interface_of(form: type) -> Interface:
    """Which of them a class implements."""
    return next((one for one in (CHOOSER, CREDITS) if issubclass(form, one.base)), CONTROLLER)
