"""From files of other tools to a draft: each is what its content says, and there is one of a kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os.path import relpath
from pathlib import Path

from pydantic import ValidationError

from testbed.base.problems import first_problem
from testbed.errors import BadInput
from testbed.experiment.imported import astra_system, hpcc_config, nccl
from testbed.experiment.imported.draft import Draft
from testbed.experiment.imported.hpcc_config import HpccConfig
from testbed.experiment.lines import first
from testbed.experiment.topology import astra_file, hpcc_file, htsim_file
from testbed.experiment.topology.custom import Custom
from testbed.experiment.traffic import cdf_text
from testbed.experiment.traffic.distribution import load
from testbed.experiment.traffic.hpcc_flows import begin_of
from testbed.experiment.traffic.jobs import goal_binary, workload_file
from testbed.experiment.traffic.jobs.files import GoalFile
from testbed.experiment.traffic.jobs.workload import SimAIWorkload
from testbed.experiment.traffic.tracefile import TraceFile
from testbed.units import show_rate, show_time

DEFAULT_CONTROLLER = "dcqcn"
USUAL_RATE = 100e9  # bit/s, of rack.link
MARGIN = 10e-3  # s, for flows that start last, where nothing says when it stops


@dataclass
class Found:
    """The files by what they are."""

    rack: Custom | None = None
    server: nccl.Server | None = None
    traffic: TraceFile | GoalFile | SimAIWorkload | None = None
    ranks: int | None = None  # the fewest that the traffic needs, if its file does not say how many
    sizes: Path | None = None
    config: HpccConfig | None = None
    system: astra_system.System | None = None
    begin: float = 0.0  # s, when the first flow starts there
    forms: dict[Path, str] = field(default_factory=dict)

    def add(self, file: Path) -> None:
        """Raises BadInput for one that cannot be read, or is the second of its kind."""
        try:
            kind = self._add(file)
        except ValidationError as error:
            raise BadInput(first_problem(error)) from None
        except OSError as error:
            raise BadInput(f"cannot read {file}: {error.strerror}") from None
        except ValueError as error:
            raise BadInput(str(error)) from None
        if kind in self.forms.values():
            other = next(one for one, form in self.forms.items() if form == kind)
            raise BadInput(f"{file}: {other} is {kind} as well; expected one")
        self.forms[file] = kind

    def _add(self, file: Path) -> str:
        if goal_binary.is_one(file):
            self.traffic = GoalFile(pattern="goal", file=str(file))
            return "traffic"
        if nccl.is_one(file):
            self.server = nccl.read(file)
            return "a server"
        if astra_system.is_one(file):
            self.system = astra_system.read(file)
            return "a system of ASTRA-sim"
        return self._add_text(file)

    def _add_text(self, file: Path) -> str:
        begin = first(file)
        if hpcc_config.is_one(begin):
            self.config = HpccConfig(file)
            return "a configuration of the HPCC family"
        if _is_rack(file):
            self.rack = Custom(kind="custom", file=str(file))
            _ = self.rack.shape
            return "a rack"
        if cdf_text.is_one(begin):
            load(str(file.absolute()))
            self.sizes = file
            return "a distribution of flow sizes"
        if workload_file.is_one(begin):
            self.ranks = workload_file.fewest(begin)
            self.traffic = SimAIWorkload(pattern="simai", file=str(file), ranks=self.ranks)
        elif begin.words[:1] == ["num_ranks"]:
            self.traffic = GoalFile(pattern="goal", file=str(file))
        else:
            self.traffic = TraceFile(pattern="trace", file=str(file))
            self.begin = begin_of(file)
        return "traffic"


def _is_rack(file: Path) -> bool:
    """Matrices of htsim and its racks begin alike: the second line tells."""
    begin = first(file)
    if begin.words and begin.words[0] == "Nodes":
        return b"\nConnections" not in file.read_bytes()[:4096]
    simulated = hpcc_file.is_one(begin) or htsim_file.is_one(begin) or astra_file.is_one(begin)
    return simulated or begin.words[:1] == ["<?xml"] or file.suffix in {".graphml", ".yaml", ".yml"}


def drafted(files: Sequence[Path], out: Path, controller: str) -> Draft:
    """The experiment in ``out`` that the files make. Raises BadInput."""
    found = Found()
    for file in files:
        found.add(file)
    try:
        return _draft(f"Made by `testbed import {' '.join(file.name for file in files)}`", found, out, controller)
    except ValueError as error:  # a configuration's values are read where they are needed
        raise BadInput(str(error)) from None


def _draft(title: str, found: Found, out: Path, controller: str) -> Draft:
    draft = Draft(title)
    draft.put("engine", "virtual", "Files of simulators run in virtual time; `kernel` sends real packets.")
    _rack(draft, found, out)
    _traffic(draft, found, out)
    if found.system:
        found.system.into(draft)
    line_rate = found.rack.shape.line_rate("h1") if found.rack else USUAL_RATE
    line_rate = found.server.rate or line_rate if found.server else line_rate
    if found.config:
        found.config.into(draft, line_rate, controller)
    else:
        said = "As asked for." if controller else "The files do not say which; others: testbed list."
        draft.put("controller", controller or DEFAULT_CONTROLLER, said)
    _time(draft, found)
    return draft


def _rack(draft: Draft, found: Found, out: Path) -> None:
    if found.rack and found.server:
        raise BadInput("one file has a rack and another one a server; expected one of them")
    if found.server:
        _servers(draft, found.server, found.traffic.hosts_needed() if found.traffic else 0)
        return
    if not found.rack:
        draft.put("rack.kind", "star", "No file is of the rack: one switch.")
        return
    (said,) = found.rack.inputs()
    draft.put("rack", {"kind": "custom", "file": _beside(said.file, out)}, said.form)
    rates = {link.rate for link in found.rack.shape.link_of.values()}
    draft.put("rack.link", {"rate": show_rate(max(rates))})


def _servers(draft: Draft, server: nccl.Server, hosts: int) -> None:
    rate = f"of {show_rate(server.rate)} each" if server.rate else "whose speed is not in the file"
    draft.put(
        "rack",
        {"kind": "rail-optimised", "servers": max(-(-hosts // server.nics), 2), "nics": server.nics},
        f"NCCL's topology of a server: {server.gpus} GPUs; {server.nics} NICs {rate}. A rank is a NIC here;",
        "servers are as many as the traffic needs, and spines are not in the file.",
    )
    if server.rate:
        draft.put("rack.link", {"rate": show_rate(server.rate)})


def _traffic(draft: Draft, found: Found, out: Path) -> None:
    if found.traffic and found.sizes:
        raise BadInput(f"{found.sizes}: flow sizes are for random traffic, but another file has flows; expected one")
    if found.traffic:
        (said,) = found.traffic.inputs()
        draft.put("traffic", {"pattern": found.traffic.pattern, "file": _beside(said.file, out)}, said.form)
        if found.ranks:
            draft.put("traffic.ranks", found.ranks, "The file does not say how many ranks there are: the fewest.")
    elif found.sizes:
        shown = {"pattern": "poisson", "sizes": _beside(found.sizes, out), "load": "50 %"}
        draft.put("traffic", shown, "The load is not in the files.")
        if not (found.rack or found.server):
            draft.put("rack.hosts", 16, "Nor is the number of hosts.")
    else:
        raise BadInput("no file has traffic; expected flows, sizes of flows, or a schedule (see docs/howto/files.md)")


def _time(draft: Draft, found: Found) -> None:
    stop = found.config.stop() if found.config else None
    if stop is not None and found.traffic and stop > found.begin:
        said = f"SIMULATOR_STOP_TIME {stop:g} s, less {found.begin:g} s when the first flow starts."
        draft.put("time", {"duration": show_time(stop - found.begin), "warmup": "0 s"}, said)
        return
    last = found.traffic.last_start if isinstance(found.traffic, TraceFile) else 0.0
    draft.put("time", {"duration": show_time(last + MARGIN), "warmup": "0 s"}, "The files do not say how long.")


def _beside(file: Path, out: Path) -> str:
    """The path of a file as an experiment beside it has it."""
    path = relpath(file, out.parent)
    return path if "/" in path else f"./{path}"
