"""A workload that the advice is for: an experiment, or traffic of another tool that becomes one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from testbed.errors import BadInput
from testbed.experiment.load import Loaded, available, resolve
from testbed.experiment.resolved import Resolved
from testbed.runs.overrides import from_user

ALWAYS = ("engine=virtual", "record.decisions=0", "record.report=false")


@dataclass(frozen=True)
class Workload:
    """An experiment under the question's own settings, with the present configuration."""

    name: str
    loaded: Loaded

    @classmethod
    def of(cls, given: str, switch: Path | None, settings: Sequence[str], folder: Path) -> Workload:
        """Of an experiment's name or file, or of a file that `testbed import` reads. Raises BadInput."""
        loaded = from_user(_experiment(given, folder))
        own = [f"rack.switch.config={json.dumps(str(switch.absolute()))}"] if switch else []
        return cls(Path(given).stem, loaded.apply([*own, *settings, *ALWAYS]))

    def resolved(self, seed: int, settings: Sequence[str] = ()) -> Resolved:
        """With a draw of the traffic and a candidate's settings. Raises BadInput."""
        return resolve(self.loaded.apply([*settings, f"seed={seed}"], "advise"))

    @cached_property
    def present(self) -> Resolved:
        """As it is now."""
        return resolve(self.loaded)

    @property
    def queues(self) -> list[int]:
        """The queues of a port that its packets wait in; one that has no number is 0."""
        classes = self.present.experiment.rack.switch.tables
        if classes is None:
            return [0]
        return sorted({classes.queue_of[dscp] for dscp in np.unique(self.present.layout.plan.tos >> 2).tolist()})

    @property
    def rate(self) -> float:
        """Of its bottleneck, bit/s."""
        return self.present.layout.shape.ports[self.present.layout.bottleneck].link.rate

    def same_flows(self, draws: Sequence[int]) -> bool:
        """Whether the draws have the same flows, as those of a trace: then only starts and marking differ by chance."""
        one, other = (self.resolved(draw).layout.plan for draw in (draws[0], draws[-1]))
        columns = ("src_number", "dst_number", "size", "start")
        return len(one) == len(other) and all(
            np.array_equal(getattr(one, name), getattr(other, name)) for name in columns
        )

    @property
    def places(self) -> list[str]:
        """Of the queues and priority groups of its switches: ``queues.3``."""
        switch = self.present.experiment.rack.switch
        queues = switch.tables.queues if switch.tables else {}
        return [*(f"queues.{one}" for one in queues), *(f"groups.{one}" for one in switch.groups)]


def workloads(given: Sequence[str], switch: Path | None, settings: Sequence[str], folder: Path) -> list[Workload]:
    """All of them, with names that tell them apart. Raises BadInput."""
    found: list[Workload] = []
    for one in given:
        made = Workload.of(one, switch, settings, folder)
        if made.name in [other.name for other in found]:
            made = replace(made, name=f"{made.name}-{len(found) + 1}")
        found.append(made)
    return found


def _experiment(given: str, folder: Path) -> str:
    """Where its experiment is; of other tools' files one is written into the folder."""
    if given in available() or Path(given).suffix in {"", ".yaml", ".yml", ".html"}:
        return given
    from testbed.experiment.imported.files import drafted

    file = Path(given).expanduser()
    if not file.is_file():
        raise BadInput(f"--traffic {given}: there is no such file; expected an experiment, a trace or a job")
    out = folder / f"{file.stem}.yaml"
    out.write_text(drafted([file], out, "").text(), encoding="utf-8")
    return str(out)
