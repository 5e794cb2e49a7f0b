"""The functions of a program for a card: what a flow keeps is words of its own, what never changes a parameter.

A card's clock and counters go round. Times that a flow keeps count from its last request (controller_moves_on),
numbers of packets are numbers of answers, and what INT counts is only ever compared with what it counted before. Which
fields those are is found out by where their values come from: `origin`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from testbed.base.fields import StateField
from testbed.compiled.events import CONTROLLER
from testbed.controller import MOST_HOPS, MOST_PATHS
from testbed.sdk.export.c.arithmetic import Doubles
from testbed.sdk.export.c.functions import Functions
from testbed.sdk.export.c.library import member
from testbed.sdk.export.c.names import KINDS
from testbed.sdk.export.c.source import field_comments
from testbed.sdk.export.c.terms import Term
from testbed.sdk.export.c.whole import CannotExport, Thing, Value
from testbed.sdk.export.card import parameters
from testbed.sdk.export.card.parameters import FACTS, Format
from testbed.sdk.export.card.reals import Reals
from testbed.sdk.export.program import Parameter

NOW, NUMBER = "now", "seq"
UNKNOWN = {
    "inflight": "what is in flight", "inc_packets": "what switches say of supply (Bolt)",
}  # fmt: skip
ORIGINS = {"now": NOW, "seq": NUMBER, "next_seq": NUMBER, "ts": "ts", "tx_bytes": "tx_bytes"}
POSITIVE = (1, parameters.WORD)
SEVERAL = (MOST_HOPS, MOST_PATHS, MOST_HOPS * MOST_PATHS)  # lengths that stand for hops and paths


@dataclass
class Known:
    """What one pass over all functions finds out for the next."""

    origins: dict[str, str] = field(default_factory=dict)  # by place, as the pass before found them
    found: dict[str, str] = field(default_factory=dict)  # by this one
    read: set[str] = field(default_factory=set)  # fields
    changed: set[str] = field(default_factory=set)

    def next(self) -> Known:
        """For another pass."""
        return Known(self.found, {}, set(self.read), set(self.changed))

    def settled(self, before: Known) -> bool:
        """Whether a pass that began with ``before`` has found nothing else."""
        return (self.found, self.read, self.changed) == (before.origins, before.read, before.changed)


@dataclass
class CardFunctions(Functions):
    """All that is written about one controller."""

    arithmetic: Doubles = field(default_factory=Reals)
    known: Known = field(default_factory=Known)
    registered: dict[str, Parameter] = field(default_factory=dict)  # by their names on the card
    comments: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.comments = field_comments(self.form)

    def state(self, flow: str, field: StateField, *, is_set: bool) -> Value:
        (self.known.changed if is_set else self.known.read).add(field.name)
        if field.length:
            self.known.changed.add(field.name)  # elements are set
            return Thing("array", f"{flow}->{member(field.name)}", field)
        if field.name in self.known.changed or field.name in CONTROLLER.decided:
            text = f"{flow}->{member(field.name)}"
            return Term(text, KINDS[np.dtype(field.kind).kind], origin=self.origin(field.name))
        return self._settled(flow, field)

    def _settled(self, flow: str, field: StateField) -> Term:
        """What ``__init__`` has set for good."""
        value = getattr(self.controller, field.name)
        if not parameters.fits(value):
            return self.arithmetic.literal(value)
        comment = self.comments.get(field.name, "")
        form = parameters.format_of(parameters.of_comment(comment), value)
        return self._parameter(flow, field.name, form, value, comment)

    def option(self, options: str, name: str) -> Term | None:
        if name not in self.options:
            return None
        info, value = type(self.controller.config).model_fields[name], getattr(self.controller.config, name)
        flow = options.partition("->")[0]
        if name in self.choices:
            value = self.choices[name].index(value)
            form, texts = parameters.format_of(parameters.PLAIN, value), self.choices[name]
            return self._parameter(flow, name, form, value, "|".join(texts), (0, len(texts) - 1))
        if not parameters.fits(value):
            return self.arithmetic.literal(value)
        form = parameters.format_of(parameters.of_option(info), value)
        limits = (0, 1) if isinstance(value, bool) else parameters.bounds(info, form)
        return self._parameter(flow, name, form, value, info.description or "", limits)

    def told(self, what: str, owner: str, name: str) -> Term | None:
        if what == "path" and name in FACTS:
            return self._fact(owner.partition("->")[0], name, name, FACTS[name][1])
        if what == "hop" and name == "rate":
            return self._fact("flow", "hop_rate", "line_rate", "of the switches' ports")
        if name in UNKNOWN:
            raise CannotExport(inspect.getfile(self.form), 1, f"a card does not know {UNKNOWN[name]} (ack.{name})")
        found = super().told(what, owner, name)
        return Term(found.text, found.kind, origin=ORIGINS.get(name, "")) if found else None

    def _fact(self, flow: str, name: str, of: str, text: str) -> Term:
        value = getattr(self.controller.path, of)
        return self._parameter(flow, name, parameters.format_of(FACTS[of][0], value), value, text, POSITIVE)

    def origin(self, place: str, found: str = "") -> str:
        if found:
            self.known.found.setdefault(place, found)
        return self.known.origins.get(place, "")

    def _parameter(  # noqa: PLR0917 - of which flow, what, of what, and its ends
        self, flow: str, name: str, form: Format, value: Any, text: str, limits: tuple[int, int] = (0, parameters.WORD)
    ) -> Term:
        made = parameters.parameter(name, form, value, text, limits)
        if self.registered.setdefault(made.name, made) != made:
            made = parameters.parameter(f"option_{name}", form, value, text, limits)
            self.registered[made.name] = made
        word = f"{flow}->parameters[{made.name}]"
        if isinstance(value, bool):
            return Term(f"({word} != 0)", "bool")
        if not isinstance(value, float):
            return Term(f"(int32_t){word}", "int64_t", 1)
        return Term(f"{form.unit.reader}({word}, {form.bits})", "double")

    def size(self, one: StateField) -> int:
        """Of a list: the card tells of one hop of one path."""
        return 1 if one.length in SEVERAL else one.length

    def kept(self, on_events: bool) -> list[StateField]:
        """Fields that a flow keeps from one decision to the next."""
        found = []
        for name, one in self.fields.items():
            if name in CONTROLLER.decided:
                needed = (
                    name in self.known.read or (name == "timer" and name in self.known.changed) or
                    (name == "rate" and on_events)
                )  # fmt: skip
            else:
                needed = name in self.known.changed and name in self.known.read and not one.constant
            if needed:
                found.append(one)
        return found
