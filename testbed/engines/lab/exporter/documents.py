"""JSON files on a host: what the rollout wants, how far it is, and the values of the NICs' registers."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

REGISTERS = "/run/testbed/registers.json"


class Policy(BaseModel):
    """A congestion control, identified by a hash."""

    controller: str
    version: str
    sha256: str


class WantedSetting(BaseModel):
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
    settings: dict[str, WantedSetting] = {}
    pcc: WantedPcc | None = None


class Rollout(BaseModel):
    """`shared_names.ROLLOUT`."""

    version: Literal[1]
    rollout: str
    policy: Policy | None = None
    devices: dict[str, WantedDevice]


class State(BaseModel):
    """`shared_names.STATE`: how far the rollout is, and what was installed."""

    version: Literal[1]
    phase: str
    last_apply: float | None = None
    policy: Policy | None = None


class AlgorithmSlot(BaseModel):
    """An algorithm of a NIC."""

    algorithm: str
    enabled: bool
    parameters: dict[str, int] = {}
    counters: dict[str, int] = {}


class DeviceRegisters(BaseModel):
    """What only root may read of a NIC."""

    cc_params: dict[str, int] = {}
    pcc: dict[str, AlgorithmSlot] = {}
    errors: int = 0


class Registers(BaseModel):
    """Of all NICs, at a Unix time."""

    version: Literal[1] = 1
    time: float
    devices: dict[str, DeviceRegisters] = {}
