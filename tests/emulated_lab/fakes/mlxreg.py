"""`mlxreg` and `mstreg`: registers as a table of two columns. Knows PPCC and ROCE_ACCL."""

from __future__ import annotations

import argparse
import sys

from tests.emulated_lab import ppcc_register
from tests.emulated_lab.fakes import device
from tests.emulated_lab.store import State, Store

# Printed in the order of the register's layout.
PPCC = (
    "cmd_type", "lp_msb", "pnat", "local_port", "target_app", "algo_slot", "algo_param_index", "value",
    "param_value1", "param_value2", "param_value3", "sl_bitmask", "prm", "sl_bitmask_support", "counter_en",
    "trace_en", "text_length", "counter_group_id", "cfg_counter_group_en",
)  # fmt: skip
INDEXES = {"lp_msb", "pnat", "local_port", "algo_slot"}  # without which there is no register


def main(arguments: list[str], store: Store) -> int:
    options = _parser().parse_args(arguments)
    try:
        answer = _access(options, store)
    except (Refused, ValueError) as error:
        print(f"-E- {error}")
        return 1
    print("Sending access register...\n")
    if options.set is None:
        _print(answer)
    return 0


class Refused(Exception):
    """What the tool prints before it ends with 1."""


def _access(options: argparse.Namespace, store: Store) -> dict[str, int]:
    if not device.is_this(options.device, store.read()):
        raise Refused(f"Failed to open device: {options.device}")
    if options.reg_name not in ("PPCC", "ROCE_ACCL"):
        raise Refused(f"Failed to get register info: {options.reg_name} is not supported")
    if options.set is None and not options.get:
        raise Refused("you must provide one of the operations: --get, --set")
    indexes, fields = _pairs(options.indexes), _pairs(options.op if options.set is None else options.set)
    if options.reg_name == "PPCC" and (missing := INDEXES - indexes.keys()):
        raise Refused(f"missing index: {', '.join(sorted(missing))}")
    if options.set is not None and not options.yes:
        _ask(options.reg_name)
    with store.edit() as state:
        register = _ppcc if options.reg_name == "PPCC" else _roce_accl
        answer = register(state, fields, indexes, options.set is not None)
    if answer is None:
        raise Refused("Failed to send access register: ME_REG_ACCESS_BAD_PARAM")
    return answer


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mlxreg", allow_abbrev=False)
    parser.add_argument("-d", "--device", required=True)
    parser.add_argument("--reg_name", required=True)
    parser.add_argument("-g", "--get", action="store_true")
    parser.add_argument("-s", "--set")
    parser.add_argument("--op", default="")
    parser.add_argument("-i", "--indexes", default="")
    parser.add_argument("-y", "--yes", action="store_true")
    return parser


def _pairs(text: str) -> dict[str, int]:
    """ "name=value,...", values decimal or hexadecimal. Raises ValueError."""
    pairs = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"failed to parse: {part}")
        pairs[name.strip()] = int(value, 0)
    return pairs


def _ask(register: str) -> None:
    print(f"You are about to send access register: {register} with the following data.")
    print("Do you want to continue ? (y/n) [n] : ", end="", flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        print("n")
        raise Refused("Aborted by user")


def _ppcc(state: State, fields: dict[str, int], indexes: dict[str, int], setting: bool) -> dict[str, int] | None:
    if setting:
        return fields if ppcc_register.set_(state, fields, indexes) else None
    answer = ppcc_register.get(state, fields, indexes)
    if answer is None:
        return None
    values = indexes | {"cmd_type": fields.get("cmd_type", 0)} | answer.fields
    words = answer.words + [0] * (ppcc_register.WORDS - len(answer.words))
    return {name: values.get(name, 0) for name in PPCC} | {f"text[{at}]": word for at, word in enumerate(words)}


def _roce_accl(state: State, fields: dict[str, int], _indexes: dict[str, int], setting: bool) -> dict[str, int] | None:
    registers = state["roce_accl"]
    if setting:
        if fields.keys() - registers.keys():
            return None
        registers.update(fields)
    return dict(registers)


def _print(rows: dict[str, int]) -> None:
    width = max(22, *(len(name) + 4 for name in rows))
    line = "=" * (width + 13)
    print(f"{'Field Name':<{width}}| Data\n{line}")
    for name, value in rows.items():
        print(f"{name:<{width}}| 0x{value:08x}")
    print(line)
