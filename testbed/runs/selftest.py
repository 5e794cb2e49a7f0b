"""`testbed selftest`: quiet runs must be called clean, broken ones must not, and the verdict must name the fault."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from testbed.engines.kernel.choices import use_netem
from testbed.engines.kernel.faults.catalogue import FAULTS
from testbed.engines.kernel.faults.fault import NO_FAULT, Fault
from testbed.engines.kernel.follow import follow
from testbed.errors import TestbedError
from testbed.experiment.load import load, resolve
from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer


@dataclass(frozen=True)
class Finding:
    """One run and whether it was judged rightly."""

    name: str
    right: bool
    said: str  # the verdict, or the refusal

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"name": self.name, "right": self.right, "said": self.said}


def examine(quiet_runs: int, only: str = "") -> Iterator[Finding]:
    """Run the catalogue. Raises TestbedError if ``only`` names no fault."""
    chosen = {name: fault for name, fault in FAULTS.items() if only in name}
    if not chosen:
        raise TestbedError(f"no fault is called '{only}'; there are: {'; '.join(FAULTS)}")
    for number in range(quiet_runs):
        said = _run(NO_FAULT)
        yield Finding(f"nothing is wrong ({number + 1} of {quiet_runs})", said == "clean", said)
    for name, (fault, words) in chosen.items():
        said = _run(fault())
        yield Finding(name, words in said, said)


def _run(fault: Fault) -> str:
    resolved = resolve(load(fault.experiment).apply(fault.settings))
    try:
        record = follow(resolved, use_netem(resolved), Observer(), fault)
    except TestbedError as refusal:
        return f"refused: {refusal}"
    return str(judge(record))
