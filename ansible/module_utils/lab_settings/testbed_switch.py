"""ECN thresholds of the testbed's own switch by ``testbed switch``: bytes, bytes, percent; a port's in one call."""

from __future__ import annotations

import json
from collections.abc import Iterable

from .backend import Printed
from .command import call, run
from .errors import LabError
from .target import Target

PINS = ("/sys/fs/bpf", "testbed-switch-*")  # folder and names
FIELDS = {"kmin": "B", "kmax": "B", "pmax": "%"}
ALL = "all"
NO_SWITCH = 2  # exit status: it is there, and this box is no switch


class TestbedSwitch(Printed):
    """``PORT/kmin``, ``PORT/kmax``, ``PORT/pmax``; the port ``all`` is all ports that the switch has then."""

    name = "testbed"
    __test__ = False  # not a pytest class

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._staged: dict[str, dict[str, str]] = {}  # by port

    def show(self) -> dict[str, str | None]:
        folder, names = PINS
        if not any(self.target.path(folder).glob(names)):
            return {}
        words = ("testbed", "switch", "show", "--format", "json")
        done = call(*words)
        if done.status == NO_SWITCH:
            return {}
        try:
            ports = json.loads(done.out)["ports"]
            return {f"{port['name']}/{field}": _shown(port[field], unit) for port in ports
                    for field, unit in FIELDS.items()}  # fmt: skip
        except (ValueError, KeyError, TypeError):
            output = (done.err or done.out).strip()[:200]
            raise LabError(f"{' '.join(words)}: expected JSON, got exit status {done.status}: {output}") from None

    def read(self, names: Iterable[str]) -> dict[str, str | None]:
        return {name: self._value(name) for name in names}

    def put(self, name: str, value: str | None) -> None:
        port, _, field = name.partition("/")
        if value is None:
            raise LabError(f"testbed: '{name}' cannot be taken away")
        self._staged.setdefault(port, {})[field] = value

    def finish(self) -> None:
        staged, self._staged = self._staged, {}
        self.forget()
        for port, values in staged.items():
            options = [word for field, value in values.items() for word in (f"--{field}", f"{value} {FIELDS[field]}")]
            run("testbed", "switch", "set", *([] if port == ALL else [port]), *options)

    def _value(self, name: str) -> str | None:
        known = self.known()
        port, _, field = name.partition("/")
        if not known:
            raise LabError(
                "testbed: this box is no testbed switch; make it one: testbed switch attach PORT --rate RATE"
            )
        if port == ALL and field in FIELDS:
            found = {one: value for one, value in known.items() if one.endswith(f"/{field}")}
            same = set(found.values())
            return same.pop() if len(same) == 1 else ", ".join(f"{one} {value}" for one, value in found.items())
        if name not in known:
            ports = ", ".join(sorted({one.partition("/")[0] for one in known}))
            raise LabError(f"testbed: '{name}' is not there; write PORT/{'|'.join(FIELDS)}, where PORT is all, {ports}")
        return known[name]


def _shown(value: float, unit: str) -> str:
    return f"{100 * value:.7g}" if unit == "%" else str(value)
