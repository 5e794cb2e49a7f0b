"""An experiment's controller and thresholds as variables of the lab's playbooks: the experiment file stays the source.

Every number has the unit of the tool that sets it: DCQCN's in those of the firmware, thresholds in bytes and percent.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from testbed.controller import Firmware
from testbed.errors import BadInput
from testbed.experiment.resolved import Resolved
from testbed.experiment.topology.buffers import LEAST, UP_TO
from testbed.tuner import Thresholds, Tuner
from testbed.units import RATE_UNITS, parse, show_rate

DISTRIBUTION = "cc-testbed"


def variables(resolved: Resolved, line_rate: float | None = None) -> dict[str, Any]:
    """Variables by name. ``line_rate``, bit/s: of the lab's ports; by default the experiment's."""
    port = line_rate or resolved.experiment.rack.link.rate
    firmware = resolved.controller.form.firmware(resolved.controller_config, port)
    controller = resolved.as_dict()["controller"]
    thresholds = _thresholds(resolved, line_rate)
    return {
        "experiment_name": resolved.experiment.name,
        "experiment_controller": "pcc" if firmware is None else "dcqcn",
        "experiment_policy": {
            "controller": resolved.controller.name,
            "version": version(DISTRIBUTION),
            "sha256": _digest(resolved, controller, port),
        },
        "experiment_settings": controller,
        "experiment_line_rate": show_rate(port),
        "experiment_dcqcn": _settings(firmware),
        "experiment_ecn": {
            "kmin": {"value": round(float(thresholds.kmin[0])), "unit": "B"},
            "kmax": {"value": round(float(thresholds.kmax[0])), "unit": "B"},
            "pmax": {"value": round(100 * float(thresholds.pmax[0])), "unit": "%"},
        },
        "experiment_differences": _differences(resolved, firmware, thresholds),
    }


def rate(text: str) -> float | None:
    """The option ``--line-rate`` in bit/s, None where it was not given. Raises BadInput."""
    if not text:
        return None
    try:
        given = parse(text, RATE_UNITS, "a rate")
    except ValueError as error:
        raise BadInput(f"--line-rate: {error}") from None
    if given <= 0:
        raise BadInput(f"--line-rate {text}: expected more than 0")
    return given


def _settings(firmware: Firmware | None) -> dict[str, Any]:
    return {} if firmware is None else {name: asdict(setting) for name, setting in firmware.settings.items()}


def _thresholds(resolved: Resolved, rate: float | None) -> Thresholds:
    """What the tuner begins with at the first port of the first switch, or at one of ``rate``."""
    ports = resolved.layout.tuner_ports()[0]
    if rate is not None:
        buffer = np.maximum(ports.buffer, LEAST * rate / UP_TO)  # a switch with such ports has no less
        ports = replace(ports, rate=np.full(len(ports), rate), buffer=buffer)
    tuner: Tuner = resolved.tuner.form(resolved.tuner_config, ports)
    return tuner.initial()


def _differences(resolved: Resolved, firmware: Firmware | None, thresholds: Thresholds) -> list[str]:
    found = list(firmware.differences) if firmware else []
    if resolved.tuner.name != "static":
        found.append(f"tuner '{resolved.tuner.name}' does not run on switches; they keep its first thresholds")
    percent = 100 * float(thresholds.pmax[0])
    if abs(percent - round(percent)) > 1e-6:
        found.append(f"Pmax is {percent:g} %; switches are given whole percent, here {round(percent)} %")
    return found


def _digest(resolved: Resolved, controller: dict[str, Any], rate: float) -> str:
    """Which code with which options decides: what the exporter shows and the gates ask for."""
    data = {"code": resolved.controller.digest, "controller": controller, "line_rate": rate}
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
