"""`testbed reproduce` of a test plan of operators: its cases, judged."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.cli.shared import print_json
from testbed.errors import BadInput, nearest

if TYPE_CHECKING:
    from testbed.results.record import EngineName
    from testbed.runs.plans.switch import Switch

QUICK = 400e9  # bit/s


def check(name: str, given: Mapping[str, object], format: str) -> None:
    """Raises BadInput for options of comparisons."""
    option = next((option for option, value in given.items() if value), None)
    if option:
        raise BadInput(f"{option}: is for published comparisons, and '{name}' is a test plan")
    if format not in {"text", "json"}:
        raise BadInput(f"--format {format}: is for published comparisons; a test plan has text and json")


def engine_of(name: str, engine: str | None) -> EngineName:
    """What carries the packets of a plan: real ones if the kernel's engine is named."""
    if engine not in {None, "virtual", "kernel"}:
        raise BadInput(f"--engine {engine}: has no packets, which '{name}' looks at; say virtual or kernel")
    return "kernel" if engine == "kernel" else "virtual"


@dataclass(frozen=True)
class Asked:
    """Which cases, by their keys, and of which switch, or of the plan's own at these rates."""

    name: str
    cases: Sequence[str]
    columns: Sequence[str]
    config: Path | None
    engine: EngineName
    quick: bool = False

    def switches(self) -> Sequence[Switch]:
        """One for each line rate. Raises BadInput."""
        from testbed.runs.plans.shipped import RATES
        from testbed.runs.plans.switch import Switch, of_config
        from testbed.units import show_rate

        known = (QUICK,) if self.quick else RATES
        given = None
        if self.config is not None:
            given, told = of_config(self.config)
            print(*told, sep="\n", file=sys.stderr)
            known = (given.rate,) if given.rate else known
        rates = {show_rate(rate): rate for rate in known}
        _among("--column", self.columns, list(rates))
        chosen = [rates[one] for one in self.columns or rates]
        return [given.at(rate) if given else Switch.own(rate) for rate in chosen]


def answer(asked: Asked, out: Path | None, *, as_json: bool) -> int:
    """Run it, print it, write its page; the exit code."""
    from testbed.results import folder
    from testbed.runs.plans import answer as made
    from testbed.runs.plans.follow import examine
    from testbed.runs.plans.shipped import PLANS

    plan = PLANS[asked.name]
    _among("--row", asked.cases, [case.key for case in plan.cases])
    switches = asked.switches()
    if asked.engine == "kernel":
        from testbed.engines.kernel import doctor

        doctor.require()
    target = folder.prepare(out, asked.name)
    tested = str(asked.config) if asked.config else ""
    outcomes = []
    for one in examine(plan, switches, asked.cases, asked.engine):
        outcomes.append(one)
        if not as_json:
            print(*made.lines(one), sep="\n", flush=True)
    page = made.write(target, plan, outcomes, asked.engine, tested)
    if as_json:
        print_json(made.as_dict(plan, outcomes, asked.engine, tested))
    else:
        print(made.total(outcomes))
    print(f"page: {page}", file=sys.stderr)
    return 0 if made.word(outcomes) == "pass" else 1


def _among(option: str, given: Sequence[str], allowed: list[str]) -> None:
    for one in given:
        if one not in allowed:
            raise BadInput(f"{option} {one}: not in this plan; {nearest(one, allowed)}")
