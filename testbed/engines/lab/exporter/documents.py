"""Files of ours on a host: what the rollout wants, where it is, and what the NICs' registers said."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

ROLLOUT = "/etc/testbed/rollout.json"
STATE = "/var/lib/testbed/state.json"
REGISTERS = "/run/testbed/registers.json"
PCC = "/run/testbed/pcc"


class Policy(BaseModel):
    """What decides, and how to know it again."""

    controller: str
    version: str
    sha256: str


class Setting(BaseModel):
    """A file and what should be in it."""

    path: str
    value: str


class WantedPcc(BaseModel):
    """A program on the NIC, and its parameters by name."""

    slot: int = 0
    parameters: dict[str, int] = {}


class WantedDevice(BaseModel):
    """One NIC that the rollout governs."""

    interface: str
    pci: str = ""
    port: int = 1
    settings: dict[str, Setting] = {}
    pcc: WantedPcc | None = None


class Rollout(BaseModel):
    """What is wanted."""

    version: Literal[1]
    rollout: str
    policy: Policy | None = None
    devices: dict[str, WantedDevice]


class State(BaseModel):
    """Where the rollout is, and what was installed."""

    version: Literal[1]
    phase: str
    last_apply: float | None = None
    policy: Policy | None = None


class Slot(BaseModel):
    """An algorithm of a NIC."""

    algorithm: str
    enabled: bool
    parameters: dict[str, int] = {}
    counters: dict[str, int] = {}


class DeviceRegisters(BaseModel):
    """What only root may read of a NIC."""

    cc_params: dict[str, int] = {}
    pcc: dict[str, Slot] = {}
    errors: int = 0


class Registers(BaseModel):
    """Of all NICs, at a Unix time."""

    version: Literal[1] = 1
    time: float
    devices: dict[str, DeviceRegisters] = {}
