"""What can change while traffic goes on, by key: `q3.kmin`, `s1-eth3.q3.alpha`, `leaf1-spine1.loss`, `controller.g`.

A key ends with the setting. Before it stands where: nothing for everywhere, a switch or one of its ports, a queue or
a priority group, a link. The options of controllers have the keys that they have in an experiment file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from testbed.base.problems import problem
from testbed.compiled.options import numbers
from testbed.compiled.records import paths_by_flow
from testbed.compiled.source import translated
from testbed.controller import CompiledController
from testbed.errors import BadInput, nearest
from testbed.experiment.block import Count, Moment, Share
from testbed.experiment.changes import Alpha, Change, OfLink, Option, Threshold, Weight
from testbed.experiment.events import Value
from testbed.experiment.resolved import Resolved
from testbed.experiment.topology.queues import Alpha as AlphaValue
from testbed.experiment.topology.queues import Bytes
from testbed.tuner import switch_of
from testbed.units import Rate, Ratio, show_rate

VALUES: Mapping[str, TypeAdapter[Any]] = {
    "kmin": TypeAdapter(Bytes),
    "kmax": TypeAdapter(Bytes),
    "pmax": TypeAdapter(Annotated[Ratio, Field(ge=0, le=1)]),
    "weight": TypeAdapter(Count),
    "alpha": TypeAdapter(AlphaValue),
    "loss": TypeAdapter(Share),
    "rate": TypeAdapter(Rate),
    "delay": TypeAdapter(Moment),
}
THRESHOLDS = ("kmin", "kmax", "pmax")
OF_CONTROLLERS = ("controller", "controllers")
SLOWEST = 0.01  # of its rate that a link can be made
NUMBERED = re.compile(r"([qg])(\d)")  # a queue, or a priority group


class Edits:
    """Reads the changes of one run, whose options may have changed before."""

    def __init__(self, resolved: Resolved) -> None:
        self.resolved, self.layout = resolved, resolved.layout
        self.switch = resolved.experiment.rack.switch
        self.configs = [one.config for one in resolved.deciders]

    def read(self, settings: Mapping[str, Value]) -> list[Change]:
        """Raises BadInput for what cannot change, and for values that cannot be."""
        found: list[Change] = []
        options: dict[int, dict[str, Value]] = {}
        for key, value in settings.items():
            *places, name = key.split(".")
            if places and places[0] in OF_CONTROLLERS:
                options.setdefault(self._decider(key, places, name), {})[name] = value
            else:
                found.append(self._change(key, places, name, value))
        for number, told in options.items():
            config = self.configs[number].model_dump(mode="json")
            found.append(Option(number, self.resolved.deciders[number].plugin.configure(None, {**config, **told})))
        return found

    def _change(self, key: str, places: Sequence[str], name: str, value: Value) -> Change:
        if name not in VALUES:
            raise self._unknown(key)
        try:
            number = VALUES[name].validate_python(value)
        except ValidationError as error:
            raise BadInput(f"{key}: {problem(error.errors()[0])}") from None
        if name in ("loss", "rate", "delay"):
            return self._link(key, places, name, number)
        numbered = next((found for place in places[-1:] if (found := NUMBERED.fullmatch(place))), None)
        ports = self._ports(key, places[:-1] if numbered else places)
        if name in THRESHOLDS:
            return Threshold(name, self._rows(key, ports, numbered), number)
        if name == "weight":
            return self._weight(key, places, numbered, number)
        return self._alpha(key, ports, numbered, number)

    def _unknown(self, key: str) -> BadInput:
        return BadInput(f"'{key}' cannot change while a run goes on; what can: {', '.join(self.known())}")

    def known(self) -> list[str]:
        """The settings that there are, for people."""
        found = ["kmin", "kmax", "pmax (of a switch, port or queue: s1-eth3.kmin)"]
        if tables := self.switch.tables:
            found += [f"q{number}.weight" for number, one in tables.queues.items() if one.schedule == "dwrr"]
        if memory := self.switch.memory:
            found += [f"q{number}.alpha" for number, one in memory.queues.items() if one.alpha is not None]
            found += [f"g{number}.alpha" for number, one in memory.groups.items() if one.share.alpha is not None]
        found.append(f"loss of a link ({self._links()[0]}.loss)")
        if self.resolved.experiment.engine == "virtual":
            found.append(f"delay of a link ({self._links()[0]}.delay)")
        found += [f"rate of a link between switches ({self._links()[0]}.rate)"] if self.layout.shape.trunks else []
        for number in range(len(self.resolved.deciders)):
            prefix = f"controllers.{number - 1}" if number else "controller"
            found += [f"{prefix}.{name}" for name in self._options(number)]
        return [*found, "down and up of a link"]

    def _links(self) -> list[str]:
        shape = self.layout.shape
        return [f"{link.low.node}-{link.high.node}" for link in (*shape.trunks, *shape.links)]

    def _ports(self, key: str, places: Sequence[str]) -> tuple[int, ...]:
        """Those of the switch, or the port, that is named."""
        ports = self.layout.port_names
        if not places:
            return tuple(range(len(ports)))
        (place, *more) = places
        found = tuple(at for at, name in enumerate(ports) if place in (name, switch_of(name)))
        if more or not found:
            known = [name for name in ports if switch_of(name) == switch_of(place)]
            known = known or list(dict.fromkeys(map(switch_of, ports)))
            raise BadInput(f"{key}: no switch or port is named '{'.'.join(places)}'; {nearest(place, known)}")
        return found

    def _rows(self, key: str, ports: Sequence[int], numbered: re.Match[str] | None) -> tuple[int, ...]:
        tables = self.switch.tables
        queues = list(tables.queues) if tables else [0]
        chosen = [queues.index(self._queue(key, numbered))] if numbered else range(len(queues))
        return tuple(port * len(queues) + at for port in ports for at in chosen)

    def _queue(self, key: str, numbered: re.Match[str] | None) -> int:
        """The number of a queue that there is."""
        tables = self.switch.tables
        known = [f"q{number}" for number in tables.queues] if tables else []
        if numbered and numbered[0] in known:
            return int(numbered[2])
        there = f"the queues are {', '.join(known)}" if known else "a port has one queue here"
        raise BadInput(f"{key}: {there}")

    def _weight(self, key: str, places: Sequence[str], numbered: re.Match[str] | None, value: int) -> Weight:
        queue, tables = self._queue(key, numbered), self.switch.tables
        if len(places) > 1:
            raise BadInput(f"{key}: a weight is of a queue at all ports; say {places[-1]}.weight")
        if tables and tables.queues[queue].schedule == "strict":
            raise BadInput(f"{key}: a 'strict' queue has no weight")
        return Weight(queue, value)

    def _alpha(self, key: str, ports: tuple[int, ...], numbered: re.Match[str] | None, value: float) -> Alpha:
        memory = self.switch.memory
        shares = {f"q{number}": one for number, one in memory.queues.items()} if memory else {}
        shares |= {f"g{number}": one.share for number, one in memory.groups.items()} if memory else {}
        known = [name for name, one in shares.items() if one.alpha is not None]
        if not numbered or numbered[0] not in known:
            there = f"what has an alpha: {', '.join(known)}" if known else "nothing has an alpha here"
            raise BadInput(f"{key}: {there}")
        return Alpha(numbered[1] == "g", int(numbered[2]), ports, value)

    def _link(self, key: str, places: Sequence[str], setting: str, value: float) -> Change:
        name = ".".join(places)
        try:
            link = self.layout.shape.find(name)
        except KeyError:
            links = self._links()
            raise BadInput(f"{key}: no link is named '{name}'; {nearest(name, links)}") from None
        told = f"{link.low.node}-{link.high.node}"
        if setting == "loss":
            return OfLink(told, "loss", value)
        if self.switch.pfc or (self.switch.memory and self.switch.memory.lossless):
            raise BadInput(f"{key}: with PFC a {setting} cannot change, so far: headroom is made for it")
        if setting == "delay":
            if self.resolved.experiment.engine != "virtual":
                raise BadInput(
                    f"{key}: a delay can change on the virtual engine; in the kernel agents and netem are made for it"
                )
            return OfLink(told, "delay", value)
        if link not in self.layout.shape.trunks:
            raise BadInput(f"{key}: the rate of a link between switches can change; senders know that of a host's")
        if not SLOWEST * link.rate <= value <= link.rate:
            raise BadInput(
                f"{key}: expected {show_rate(SLOWEST * link.rate)} to {show_rate(link.rate)}, as it was built"
            )
        return OfLink(told, "rate", value)

    def _decider(self, key: str, places: Sequence[str], name: str) -> int:
        """Whose option it is."""
        deciders, number = self.resolved.deciders, 0
        if places[0] == "controllers":
            number = 1 + int(places[1]) if len(places) == 2 and places[1].isdecimal() else len(deciders)
        if number >= len(deciders) or len(places) != 1 + (number > 0):
            raise self._unknown(key)
        plugin = deciders[number].plugin
        if not issubclass(plugin.form, CompiledController):
            raise BadInput(f"{key}: '{plugin.name}' decides in batches, and reads its options only when it begins")
        known = self._options(number)
        if name not in known:
            raise BadInput(f"{key}: '{plugin.name}' has no such option that can change; {nearest(name, known)}")
        return number

    def _options(self, number: int) -> list[str]:
        """Those that its callbacks read; what only ``__init__`` reads can change nothing any more."""
        one = self.resolved.deciders[number]
        form, known = one.plugin.form, list(numbers(one.config))
        if not issubclass(form, CompiledController):
            return []
        if not form.compiled or hasattr(form, "native"):
            return known
        code = translated(form(one.config, paths_by_flow(self.layout.controller_paths(slice(1)))[0]))
        return [name for name in known if name in code.attributes and name not in code.fields]
