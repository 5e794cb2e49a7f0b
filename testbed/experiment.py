"""The experiment file: what can be said, the defaults, and what is refused.

The field descriptions here are the one place where keys and defaults are documented; `testbed.schema` renders them
into the JSON schema and docs/experiment.md. Everything is nominal (see `testbed.clock`) and SI once it is loaded.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, NamedTuple, NoReturn, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from testbed.errors import nearest
from testbed.units import TIME_UNITS, Rate, Ratio, Size, Time, parse, show_rate, show_time

PAYLOAD = (64, 8900)  # bytes: room for headers and INT above 64 B frames, and below a 9,000-byte jumbo frame
MOST_HOSTS = 1023  # a Linux bridge has 1,024 ports
MOST_FLOWS = 65_536
MOST_CELLS = 20_000_000  # samples x flows kept in memory
DILATIONS = (1.0, 1e6)
SLOWEST, FASTEST = 1e5, 1e10  # bit/s of wall time that software links can shape at all


def _refuse(key: str, problem: str) -> NoReturn:
    """Blame one key, relative to the model that is being validated."""
    raise PydanticCustomError("refused", "{problem}", {"key": key, "problem": problem})


DEFAULT_TUNER = "static"


class Part(BaseModel):
    """A block of the file: fixed once loaded, and unknown keys are refused with the nearest known one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if data is None:
            return {}  # `pacing:` with nothing below it
        if isinstance(data, dict):
            for key in data:
                if key not in cls.model_fields:
                    _refuse(str(key), f"no such key; {nearest(str(key), list(cls.model_fields))}")
        return data


def _auto_or_number(value: object) -> float | str:
    """A validator of its own, so that messages speak of the number and not of the members of a union."""
    if value == "auto":
        return "auto"
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type] # caught below
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        shown = str(value).lower() if isinstance(value, bool) else f"'{value}'"
        raise ValueError(f"expected a number or 'auto', got {shown}")
    if not DILATIONS[0] <= number <= DILATIONS[1]:
        bound = f"at least {DILATIONS[0]:g}" if number < DILATIONS[0] else f"at most {DILATIONS[1]:g}"
        raise ValueError(f"must be {bound}, got {number:g}")
    return number


def _auto_or_time(value: object) -> float | str:
    return "auto" if value == "auto" else parse(value, TIME_UNITS, "a time or 'auto'")


AutoOrDilation = Annotated[
    float | Literal["auto"],
    BeforeValidator(_auto_or_number),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "minimum": DILATIONS[0], "maximum": DILATIONS[1]}, {"const": "auto"}]}
    ),
]
AutoOrTime = Annotated[
    float | Literal["auto"],
    BeforeValidator(_auto_or_time),
    PlainSerializer(lambda value: value if value == "auto" else show_time(value), when_used="json"),
    WithJsonSchema({"type": "string", "examples": ["auto", "100 us"]}),
]
Count = Annotated[int, Field(strict=True, ge=1)]
Moment = Annotated[Time, Field(ge=0)]


def _host_name(value: str) -> str:
    if not (value.startswith("h") and value[1:].isdecimal() and value[1] != "0"):
        raise ValueError(f"'{value}' is not a host; hosts are named h1, h2, h3, ...")
    return value


HostName = Annotated[str, AfterValidator(_host_name)]


Share = Annotated[Ratio, Field(ge=0, lt=1), PlainSerializer(lambda value: float(f"{value:.6g}"), when_used="json")]


class Link(Part):
    """Every cable of the rack."""

    rate: Annotated[Rate, Field(gt=0)] = Field(default=100e9, description="Speed of every link, both directions.")
    delay: Annotated[Time, Field(ge=0)] = Field(
        default=2e-6, description="One way, per link: the round trip through one switch is four times this."
    )
    loss: Share = Field(default=0.0, description="Share of packets lost at random at each switch port, by the seed.")


class Switch(Part):
    """The switch."""

    buffer: Annotated[Size, Field(gt=0)] = Field(
        default=5e6, description="Queue space of each port; what exceeds it is lost."
    )
    forwarding: Literal["bridge", "ovs"] = Field(
        default="bridge",
        description="Who forwards: `bridge` is the Linux bridge, `ovs` is Open vSwitch in the kernel, if it has it.",
    )


def _off(value: object) -> object:
    return "off" if value is False else value  # what YAML makes of `off`


class Rack(Part):
    """Hosts, links and the switch between them."""

    kind: Literal["star"] = Field(default="star", description="Shape: `star` is one switch with all hosts.")
    hosts: Annotated[int, Field(strict=True, ge=2, le=MOST_HOSTS)] | None = Field(
        default=None, description="Number of hosts, named h1, h2, ...; by default as many as the traffic needs."
    )
    link: Link = Field(default=Link(), description="Every cable of the rack.")
    switch: Switch = Field(default=Switch(), description="The switch.")
    calibrate: Annotated[Literal["off", "classes", "all"], BeforeValidator(_off)] = Field(
        default="classes",
        description="Measured before the run: every kind of link (`classes`), `all` links, or nothing (`off`).",
    )
    delay_by: Literal["auto", "netem", "delay-line"] = Field(
        default="auto",
        description="Who delays packets: `netem` in the kernel, or the `delay-line` of the sender where the kernel "
        "has no netem. `auto` takes netem if it is there.",
    )


class Flow(NamedTuple):
    """One flow, as the traffic pattern makes it."""

    src: str
    dst: str
    size: float  # bytes of payload; inf for an endless flow
    start: float  # s


def _in_a_frame(value: float) -> float:
    if not PAYLOAD[0] <= value <= PAYLOAD[1] or value != int(value):
        raise ValueError(f"must be a whole number of bytes from {PAYLOAD[0]} B to {PAYLOAD[1]} B, got {value:g} B")
    return value


Payload = Annotated[Size, AfterValidator(_in_a_frame)]


class Incast(Part):
    """Many senders, one receiver: hosts h1 to hN send to the next one, h(N+1)."""

    pattern: Literal["incast"] = Field(description="`incast`")
    senders: Count = Field(description="Number of sending hosts.")
    flows_per_sender: Count = Field(default=1, description="Flows of each sending host.")
    payload: Payload = Field(default=1000.0, description="User data in a full packet.")
    size: Annotated[Size, Field(ge=1)] | None = Field(
        default=None, description="User data per flow; null is an endless flow."
    )
    start: Moment = Field(default=0.0, description="When the first flow starts.")
    stagger: Moment = Field(default=0.0, description="Flow i starts i times this later.")

    def expand(self) -> list[Flow]:
        """The flows, neighbours on different hosts, so that a stagger brings in one host after the other."""
        size = math.inf if self.size is None else self.size
        return [
            Flow(f"h{i % self.senders + 1}", f"h{self.senders + 1}", size, self.start + i * self.stagger)
            for i in range(self.senders * self.flows_per_sender)
        ]


class FlowSpec(Part):
    """One flow of an explicit list."""

    src: HostName = Field(description="Sending host, h1 to hN.")
    dst: HostName = Field(description="Receiving host, another one.")
    size: Annotated[Size, Field(ge=1)] | None = Field(default=None, description="User data; null is an endless flow.")
    start: Moment = Field(default=0.0, description="When it starts.")

    @model_validator(mode="after")
    def _two_hosts(self) -> Self:
        if self.src == self.dst:
            _refuse("dst", f"a flow needs two hosts, but src and dst are both '{self.src}'")
        return self


class FlowList(Part):
    """Flows that are listed one by one."""

    pattern: Literal["flows"] = Field(description="`flows`")
    payload: Payload = Field(default=1000.0, description="User data in a full packet.")
    flows: Annotated[list[FlowSpec], Field(min_length=1)] = Field(description="The flows, each with these keys:")

    def expand(self) -> list[Flow]:
        """The flows, in the order of the list."""
        return [Flow(f.src, f.dst, math.inf if f.size is None else f.size, f.start) for f in self.flows]


Traffic = Annotated[Incast | FlowList, Field(discriminator="pattern")]


class PluginChoice(BaseModel):
    """A plugin, its preset, and any of its own options. A plain name will do: `controller: swift`."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = Field(description="Name of an installed plugin, or a path: `./my_cc.py` or `./my_cc.py:MyCC`.")
    preset: str | None = Field(
        default=None, description="Named set of options to begin with; by default the plugin's first."
    )

    @property
    def options(self) -> dict[str, Any]:
        """What was said beyond name and preset."""
        return dict(self.model_extra or {})

    @model_validator(mode="before")
    @classmethod
    def _plain_name(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string", "description": "Name or path of the plugin."}, handler(core)]}


class TimeSpan(Part):
    """How long, and how much slower than the emulated rack."""

    duration: Annotated[Time, Field(gt=0)] = Field(default=30e-3, description="Nominal length of the run.")
    warmup: Annotated[Time, Field(ge=0)] = Field(
        default_factory=lambda data: data.get("duration", 0.0) / 3,
        description="Left out of the summary; by default a third of the duration (10 ms of 30 ms).",
    )
    dilation: AutoOrDilation = Field(
        default=1000.0,
        description="Wall seconds per nominal second. Rates are divided by it, bytes are never scaled. `auto` measures "
        "this machine just before the run and takes the smallest that should be clean.",
    )

    @property
    def factor(self) -> float:
        """The dilation as a number; `testbed.speed` turns `auto` into one."""
        if isinstance(self.dilation, str):
            raise ValueError("time.dilation is 'auto': nobody has measured this machine yet")
        return self.dilation

    @model_validator(mode="after")
    def _something_is_measured(self) -> Self:
        if self.warmup >= self.duration:
            _refuse("warmup", f"must be less than time.duration ({show_time(self.duration)})")
        return self


class Pacing(Part):
    """How senders spread their packets."""

    burst: Count = Field(default=1, description="Packets of one flow that are sent back to back.")


class LossRecovery(Part):
    """What a sender does when nothing comes back."""

    timeout: AutoOrTime = Field(default="auto", description="Retransmission timeout; `auto` follows the measured RTT.")


class Record(Part):
    """What the time series hold."""

    interval: Annotated[Time, Field(gt=0)] = Field(default=10e-6, description="Time between two samples.")
    flows: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=1024, description="Series for this many flows at most."
    )
    decisions: Annotated[int, Field(strict=True, ge=0, le=MOST_CELLS)] = Field(
        default=1_000_000,
        description="For `testbed replay`: calls of the controller are kept until they were about this many flows in "
        "sum; 0 keeps none.",
    )


class Experiment(Part):
    """One experiment: rack, traffic, controller, tuner, time."""

    name: str = Field(default="", description="By default the name of the file.")
    description: str = Field(default="", description="One line, shown by `testbed list`.")
    rack: Rack = Field(default=Rack(), description="Hosts, links and the switch between them.")
    traffic: Traffic = Field(description="Who sends to whom; the keys depend on `pattern`.")
    controller: PluginChoice = Field(description="Sender-side congestion control; a plain name will do.")
    tuner: PluginChoice = Field(
        default=PluginChoice(name=DEFAULT_TUNER), description="Switch-side ECN tuner; a plain name will do."
    )
    time: TimeSpan = Field(default_factory=TimeSpan, description="How long, and how much slower.")
    pacing: Pacing = Field(default=Pacing(), description="How senders spread their packets.")
    loss_recovery: LossRecovery = Field(
        default=LossRecovery(), description="What a sender does when nothing comes back."
    )
    record: Record = Field(default=Record(), description="What the time series hold.")
    seed: Annotated[int, Field(strict=True, ge=0)] = Field(default=1, description="Seed of everything that is random.")

    @model_validator(mode="before")
    @classmethod
    def _default_tuner(cls, data: Any) -> Any:
        """``tuner: {preset: secn1}`` means the default tuner."""
        if isinstance(data, dict) and isinstance(data.get("tuner"), dict):
            return {**data, "tuner": {"name": DEFAULT_TUNER, **data["tuner"]}}
        return data

    @property
    def hosts(self) -> int:
        """Number of hosts: as asked, or as many as the traffic needs."""
        return self.rack.hosts or self._hosts_needed()

    def _hosts_needed(self) -> int:
        if isinstance(self.traffic, Incast):
            return self.traffic.senders + 1
        return max(int(name[1:]) for flow in self.traffic.flows for name in (flow.src, flow.dst))

    @model_validator(mode="after")
    def _parts_fit_together(self) -> Self:
        self._check_size()
        self._check_time()
        return self

    def _check_size(self) -> None:
        blame = "traffic.senders" if isinstance(self.traffic, Incast) else "traffic.flows"
        needed = self._hosts_needed()
        if needed > MOST_HOSTS:
            _refuse(blame, f"needs {needed} hosts, but one switch has at most {MOST_HOSTS}")
        if self.rack.hosts is not None and needed > self.rack.hosts:
            _refuse("rack.hosts", f"the traffic needs at least {needed}, got {self.rack.hosts}")
        flows = len(self.traffic.expand()) if isinstance(self.traffic, FlowList) else _product(self.traffic)
        if flows > MOST_FLOWS:
            _refuse("traffic.flows_per_sender", f"makes {flows} flows, at most {MOST_FLOWS} are allowed")
        cells = self.time.duration / self.record.interval * max(1, min(flows, self.record.flows))
        if cells > MOST_CELLS:
            _refuse(
                "record.interval",
                f"would keep {cells:.3g} samples, at most {MOST_CELLS:.0e}; raise it, or lower record.flows",
            )
        if self.rack.switch.buffer < self.traffic.payload + 200:
            _refuse("rack.switch.buffer", "must hold at least one full packet (traffic.payload and 200 B of headers)")

    def _check_time(self) -> None:
        late = next((flow for flow in self.traffic.expand() if flow.start >= self.time.duration), None)
        if late is not None:
            key = "flows" if isinstance(self.traffic, FlowList) else "stagger" if self.traffic.stagger else "start"
            end = show_time(self.time.duration)
            _refuse(f"traffic.{key}", f"the flow {late.src} to {late.dst} would start only after time.duration ({end})")
        if self.time.dilation == "auto":  # the number will be within these limits
            return
        low, high = self.dilation_limits
        if not low <= self.time.factor <= high:
            wall_rate = self.rack.link.rate / self.time.factor  # a check of limits; only testbed.clock converts
            _refuse(
                "time.dilation",
                f"makes rack.link.rate {show_rate(wall_rate)} of wall time; with {show_rate(self.rack.link.rate)} "
                f"links it must be from {low:.0f} to {high:.0f}",
            )

    @property
    def dilation_limits(self) -> tuple[float, float]:
        """Smallest and largest dilation with these links."""
        rate = self.rack.link.rate
        return max(DILATIONS[0], rate / FASTEST), min(DILATIONS[1], rate / SLOWEST)


def _product(incast: Incast) -> int:
    return incast.senders * incast.flows_per_sender
