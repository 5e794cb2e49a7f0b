"""Many settings at once: read, compare, write in a safe order, read back.

changes = plan(settings, backends)        # what differs
apply(changes, backends)               # raises Ignored with the names of settings that did not take the value
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from .backend import Backend, Change, Setting
from .cc_params import CcParams
from .config_db import ConfigDb
from .dcb import Dcb
from .ecn import Ecn
from .ecnconfig import EcnConfig
from .errors import Ignored, LabError
from .mlnx_qos import MlnxQos
from .mlxconfig import MlxConfig
from .nvue import Nvue
from .ppcc import Ppcc
from .rdma_cm import RdmaCm
from .target import Target
from .testbed_switch import TestbedSwitch
from .traffic_class import TrafficClass

# In the order of writing: priorities and their maps before what is sent on them.
BACKENDS: tuple[type[Backend], ...] = (
    MlnxQos, Dcb, RdmaCm, TrafficClass, Ecn, CcParams, Ppcc, EcnConfig, ConfigDb, Nvue,
    TestbedSwitch, MlxConfig,
)  # fmt: skip
INSTEAD = {"dcb": "mlnx_qos"}  # two tools for the same table: the first that is there speaks for both
PASSES = 2  # a write may reset another setting, which the second pass puts right


def backends_of(target: Target) -> dict[str, Backend]:
    """All backends for a target, in the order of writing."""
    return {form.name: form(target) for form in BACKENDS}


def plan(settings: Iterable[Setting], backends: Mapping[str, Backend]) -> list[Change]:
    """What differs, in a safe order. Raises LabError for a setting that cannot be on this host."""
    wanted = list(settings)
    unknown = sorted({setting.backend for setting in wanted} - set(backends))
    if unknown:
        raise LabError(f"no backend is named '{unknown[0]}'; there are {', '.join(backends)}")
    changes: list[Change] = []
    for name, backend in backends.items():
        own = [setting for setting in wanted if setting.backend == name]
        if own:
            found = backend.read([setting.name for setting in own])
            differing = [
                setting for setting in own if not backend.equal(setting.name, setting.value, found[setting.name])
            ]
            changes += backend.order([Change(setting, found[setting.name]) for setting in differing])
    return changes


def apply(changes: list[Change], backends: Mapping[str, Backend]) -> None:
    """Write and read back. Raises LabError at the first write that is refused, Ignored for those without effect."""
    left = changes
    for _ in range(PASSES):
        for name, group in groupby(left, key=lambda change: change.setting.backend):
            for change in group:
                backends[name].write(change.setting.name, change.setting.value)
            backends[name].finish()
        left = plan([change.setting for change in changes], backends)
        if not left:
            return
    raise Ignored([f"{one.setting.title} is {_shown(one.before)}, not {_shown(one.setting.value)}" for one in left])


def everything(backends: Mapping[str, Backend]) -> list[Setting]:
    """All settings of a target as they are: what a snapshot keeps."""
    found: list[Setting] = []
    for name, backend in backends.items():
        if name in INSTEAD and any(setting.backend == INSTEAD[name] for setting in found):
            continue
        names = backend.names()
        values = backend.read(names) if names else {}
        found += [Setting(name, one, values[one]) for one in names]
    return found


def _shown(value: str | None) -> str:
    return "absent" if value is None else f"'{value}'"
