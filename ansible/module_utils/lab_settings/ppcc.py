"""Parameters of congestion control programs on the card: register PPCC (0x506e) by ``mlxreg`` or ``mstreg``.

The register ignores a value outside of minimum and maximum, or one for a read-only parameter, and reports success:
only reading back shows it. The tool prints a table of 32-bit words and no JSON (mstflint, mlxreg_ui.cpp).
"""

from __future__ import annotations

import re
import shutil

from .backend import Change, Printed
from .command import run
from .errors import LabError

ENABLE, DISABLE, STATUS, COUNT, SET, BULK_GET = 0x1, 0x2, 0x3, 0x4, 0x8, 0xA
ALGORITHMS = 0x10
SLOTS = 16


class Ppcc(Printed):
    """``slot/0/parameter/3`` (a number) and ``slot/15/enabled`` (0 or 1)."""

    name = "ppcc"

    def show(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for slot in self.programs() if _tool() and self.target.pci else ():
            found[f"slot/{slot}/enabled"] = str(self._get(STATUS, slot).get("value", 0))
            count = self._get(COUNT, slot).get("value", 0)
            words = self._get(BULK_GET, slot, text_length=4 * count) if count else {}
            found.update({f"slot/{slot}/parameter/{at}": str(words[f"text[{at}]"]) for at in range(count)})
        return found

    def put(self, name: str, value: str | None) -> None:
        slot, index = _parts(name)
        if value is None:
            raise LabError(f"ppcc: {name} cannot be unset; give the value that it should have")
        if index is None:
            self._set(ENABLE if int(value, 0) else DISABLE, slot, 0)
        else:
            self._set(SET, slot, index, value=int(value, 0))

    def order(self, changes: list[Change]) -> list[Change]:
        return sorted(
            changes, key=lambda change: change.setting.name.endswith("enabled")
        )  # parameters before the switch

    def programs(self) -> dict[int, int]:
        """Slot to the number of the program in it: identifier, major and minor version. Slot 15 is the firmware's."""
        words = self._get(ALGORITHMS, 0)
        return {slot: word for slot in range(SLOTS) if (word := words.get(f"text[{slot}]", 0))}

    def _get(self, command: int, slot: int, **fields: int) -> dict[str, int]:
        return parse(self._call("--get", "--op", _joined(cmd_type=command, **fields), slot, 0))

    def _set(self, command: int, slot: int, index: int, **fields: int) -> None:
        self._call("--set", _joined(cmd_type=command, **fields), "", slot, index)

    def _call(self, verb: str, first: str, second: str, slot: int, index: int) -> str:
        where = f"local_port={self.target.port},pnat=0,lp_msb=0,algo_slot={slot},algo_param_index={index}"
        words = [word for word in (verb, first, second) if word]
        return run(_tool() or "mlxreg", "-d", self.target.pci, "-y", "--reg_name", "PPCC", *words, "--indexes", where)


def _joined(**fields: int) -> str:
    return ",".join(f"{name}={value}" for name, value in fields.items())


def _tool() -> str | None:
    return shutil.which("mlxreg") or shutil.which("mstreg")


def _parts(name: str) -> tuple[int, int | None]:
    match = re.fullmatch(r"slot/(\d+)/(?:enabled|parameter/(\d+))", name)
    if match is None or int(match[1]) >= SLOTS:
        raise LabError(f"ppcc: no setting is named '{name}'; write slot/0/parameter/3 or slot/15/enabled")
    return int(match[1]), None if match[2] is None else int(match[2])


def parse(table: str) -> dict[str, int]:
    """Fields of a ``Field Name | Data`` table. Raises LabError if there is none."""
    found = {}
    for line in table.splitlines():
        name, bar, data = line.partition("|")
        if bar and (match := re.fullmatch(r"\s*(0x[0-9a-fA-F]+)\s*", data)):
            found[name.strip()] = int(match[1], 16)
    if not found:
        raise LabError(f"mlxreg printed no table of fields; it printed: {table.strip()[:200]}")
    return found
