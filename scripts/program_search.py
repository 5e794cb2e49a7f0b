"""A search over small programs for a controller: what `evolved` is made of (controllers/evolved.py).

    .venv/bin/python scripts/program_search.py FOLDER [--seed 1] [--tries 120]    # some 2 s of CPU a try; goes on

A program is the window that a flow of HPCC's telemetry takes, as one expression, and the share of the line it starts
with. A population of the best twelve is changed by rules: another constant, another part, a part around a part, a part
of another program, less. Its fitness is the score of three of the six experiments of `testbed score`, seed 1, and seed
2 as well for who would be of the twelve. The last line is the shortest program within 1 % of the best.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import random
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from score_seeds import SEARCHED, total

from testbed.sdk.score.score import outcome
from testbed.sdk.score.suite import QUICK

SEEN = ("u", "v", "r", "w", "age", "stage")  # utilisation, its newest value, RTT inflation, window, BDPs sent, RTTs up
POPULATION, DRAWN, LONGEST = 12, 3, 260
SLACK = 0.99  # of the best fitness, for a shorter program
FORM = '''"""A candidate."""

from __future__ import annotations

from testbed.controller import Ack, Path
from testbed_controllers.hpcc import Hpcc, HpccConfig


class Candidate(Hpcc):
    name = "candidate"
    age: float

    def __init__(self, config: HpccConfig, path: Path) -> None:
        super().__init__(config, path)
        self.reference = max(START * self.initial, self.least)
        self.publish(self.reference)

    def react(self, ack: Ack, u: float, tau: float) -> None:
        self.age += ack.bytes / self.initial
        self.utilisation += (u - self.utilisation) * tau / self.base_rtt
        smooth, newest = max(self.utilisation, 0.01), max(u, 0.01)
        inflation = max(ack.rtt / self.path.base_rtt - 1.0, 0.0)
        share = self.wanted(smooth, newest, inflation, self.reference / self.initial, self.age, float(self.stage))
        window = min(max(share * self.initial, self.least), self.initial)
        self.publish(window)
        if ack.seq > self.update_after:
            self.stage = 0 if window < self.reference else self.stage + 1
            self.reference = window
            self.update_after = ack.next_seq

    def wanted(self, u: float, v: float, r: float, w: float, age: float, stage: float) -> float:
        return WINDOW
'''


@dataclass(frozen=True)
class Program:
    """A share of the line, and an expression for the window as a share of the BDP."""

    start: float
    window: str

    def source(self) -> str:
        return FORM.replace("START", repr(self.start)).replace("WINDOW", self.window)


FIRST = [
    Program(1.0, "w * 0.95 / u + 0.0005 if u >= 0.95 or stage >= 5 else w + 0.0005"),  # HPCC
    Program(1.0, "0.9 * (w / max(v * (1.0 + r), 0.05) + 0.01) + 0.1 * w"),  # PowerTCP
    Program(0.5, "w * 0.98 / u + 0.001"),
    Program(0.25, "min(w * 0.97 / u, w * 2.0) + 0.0005"),
    Program(0.3, "w * 0.98 / u + 0.002 / max(1.0 + age, 0.01)"),
    Program(0.3, "w * 0.99 / max(u * (1.0 + r), 0.01) + 0.002"),
]


@dataclass
class Place:
    """Where an expression stands in another one."""

    parent: ast.AST
    name: str
    at: int | None

    @property
    def part(self) -> ast.expr:
        found = getattr(self.parent, self.name)
        return cast(ast.expr, found if self.at is None else found[self.at])

    @part.setter
    def part(self, new: ast.expr) -> None:
        if self.at is None:
            setattr(self.parent, self.name, new)
        else:
            getattr(self.parent, self.name)[self.at] = new


def places(tree: ast.AST) -> list[Place]:
    """Of all numbers below."""
    found = []
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if not isinstance(parent, ast.BoolOp | ast.Call) or name in {"args", "values"}:
                listed = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
                found += [Place(parent, name, at) for at, one in listed if isinstance(one, ast.expr)]
    return [one for one in found if not isinstance(one.part, ast.Compare | ast.BoolOp)]


def changed(program: Program, other: Program, rng: random.Random) -> Program:
    """One or two changes by the rules."""
    start = program.start
    if rng.random() < 0.2:
        start = round(min(max(start * math.exp(rng.gauss(0, 0.5)), 0.02), 1.0), 4)
    tree = ast.parse(program.window, mode="eval")
    for _ in range(rng.choice((1, 1, 2))):
        place = rng.choice(places(tree))
        rule = rng.choice(("constant", "constant", "constant", "part", "around", "around", "other", "less"))
        old = ast.unparse(place.part)
        if rule == "constant":
            place = rng.choice([one for one in places(tree) if isinstance(one.part, ast.Constant)] or [place])
            if isinstance(place.part, ast.Constant):
                old = f"{float(str(place.part.value)) * math.exp(rng.gauss(0, 0.4)):.4g}"
        elif rule == "part":
            old = drawn(rng, 2)
        elif rule == "around":
            forms = (
                "({0} + {1})",
                "({0} * (1.0 + {1}))",
                "({0} / (1.0 + {1}))",
                "min({0}, {2})",
                "max({0}, {2})",
                "({0} if {3} else {2})",
            )
            less = f"{rng.choice(SEEN)} > {10 ** rng.uniform(-2, 1):.3g}"
            old = rng.choice(forms).format(
                old, f"{10 ** rng.uniform(-4, 0):.3g} * {rng.choice(SEEN)}", drawn(rng, 1), less
            )
        elif rule == "other":
            old = ast.unparse(rng.choice(places(ast.parse(other.window, mode="eval"))).part)
        elif below := places(place.part):
            old = ast.unparse(rng.choice(below).part)
        place.part = ast.parse(old, mode="eval").body
    return Program(start, ast.unparse(tree))


def drawn(rng: random.Random, depth: int) -> str:
    """A part of so many levels."""
    if not depth or rng.random() < 0.3:
        return rng.choice((rng.choice(SEEN), f"{10 ** rng.uniform(-3, 1):.3g}"))
    form = rng.choice(("({} + {})", "({} - {})", "({} * {})", "({} / max({}, 0.01))", "min({}, {})", "max({}, {})"))
    return form.format(drawn(rng, depth - 1), drawn(rng, depth - 1))


def fitness(program: Program, folder: Path, seed: int) -> float:
    file = folder / "candidate.py"
    file.write_text(program.source())
    trials = [(at, trial) for at, trial in enumerate(QUICK) if trial.experiment in SEARCHED]
    return total([outcome(str(file), trial, trial.seeded(seed, at)) for at, trial in trials])


def main() -> None:
    """Try, and keep a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tries", type=int, default=120)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    log = chosen.folder / f"tried-{chosen.seed}.jsonl"
    tried: list[tuple[float, Program]] = []
    for line in log.read_text().splitlines() if log.exists() else []:
        known = json.loads(line)
        tried.append((known.pop("fitness"), Program(**known)))
    while len(tried) < chosen.tries:
        rng = random.Random(f"{chosen.seed}.{len(tried)}")  # so that it comes to the same in pieces
        best = sorted(tried, key=lambda one: -one[0])[:POPULATION]
        program = FIRST[len(tried)] if len(tried) < len(FIRST) else None
        while program is None or len(program.window) > LONGEST:
            parent = min(rng.sample(range(len(best)), DRAWN))
            program = changed(best[parent][1], rng.choice(best)[1], rng)
        found = fitness(program, chosen.folder, 1)
        if len(best) < POPULATION or found > best[-1][0]:
            found = (found + fitness(program, chosen.folder, 2)) / 2
        tried.append((found, program))
        with log.open("a") as stream:
            stream.write(json.dumps({"fitness": found, **asdict(program)}) + "\n")
    most = max(found for found, _ in tried)
    found, program = min((one for one in tried if one[0] >= SLACK * most), key=lambda one: len(one[1].window))
    print(f"{len(tried)} tried, best {most:.2f}; {found:.2f}: starts at {program.start} of the line, {program.window}")


if __name__ == "__main__":
    main()
