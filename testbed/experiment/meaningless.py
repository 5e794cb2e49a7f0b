"""Keys of an experiment that have no meaning with the engine that it names: refused, and not ignored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from testbed.errors import BadInput
from testbed.experiment.document import Document, KeyPath, dotted
from testbed.experiment.model import Experiment
from testbed.experiment.topology.any_rack import Nic
from testbed.experiment.topology.tables import Tables
from testbed.experiment.traffic.plan import USUAL_TOS

OF_THE_KERNEL = {  # and what they are by default
    ("rack", "calibrate"): "classes",
    ("rack", "delay_by"): "auto",
    ("rack", "switch", "forwarding"): "bridge",
}
DILATION = ("time", "dilation")
MOST_NEXT_HOPS = 64  # as in wire.h


def without(settings: Mapping[str, str], *, dilated: bool = False) -> dict[str, str]:
    """Settings (as for ``--set``) less all that are about the kernel alone; others may be ``dilated``."""
    own = {*OF_THE_KERNEL} if dilated else {*OF_THE_KERNEL, DILATION}
    return {key: value for key, value in settings.items() if tuple(key.split(".")) not in own}


def kept(settings: Sequence[str], engine: str) -> list[str]:
    """Settings (as for ``--set``) for one of several engines that run an experiment: each has what means something.

    What is about the kernel alone is as usual on the others, also if it is in a file.
    """
    if engine == "kernel":
        return [*settings, "engine=kernel"]
    dilated = engine == "live"
    named = [one for one in settings if without({one.partition("=")[0].strip(): ""}, dilated=dilated)]
    return [*named, *(f"{dotted(key)}={usual}" for key, usual in OF_THE_KERNEL.items()), f"engine={engine}"]


def refuse(experiment: Experiment, document: Document) -> None:
    """Raises BadInput with all of them, each with its place.

    A dilation in a file is for when its experiment is run in the kernel; on the command line it is a mistake.
    """
    problems = [f"{document.origin(key)}: {dotted(key)}: {why}" for key, why in _found(experiment, document)]
    if problems:
        raise BadInput("\n".join(problems))


def _found(experiment: Experiment, document: Document) -> Iterator[tuple[KeyPath, str]]:
    engine = experiment.engine
    if engine not in {"kernel", "live"} and DILATION in document.options:
        yield DILATION, f"engine '{engine}' does not run in wall time, so that nothing is dilated; leave it out"
    if experiment.simulates_packets:
        for key, usual in OF_THE_KERNEL.items():
            if (value := attrgetter(dotted(key))(experiment)) != usual:
                yield key, f"'{value}' has no meaning with engine '{engine}'; leave it out, or say '{usual}'"
    if experiment.apps:
        yield from _apps(experiment)
    yield from _switch(experiment)
    if engine == "fluid":
        yield from _fluid(experiment)
    yield from _routing(experiment)
    if engine == "fluid" and experiment.queue_pairs == "per-pair":
        yield ("queue_pairs",), "in the fluid model every flow has a state of its own; say 'per-message'"
    if engine == "fluid" and experiment.transport.numbered:
        yield ("transport", "recovery"), "the fluid model has no packets that could be sent again; say 'per-packet'"
    yield from _receiver(experiment)
    costs: dict[KeyPath, float] = {("controller", "decision_cost"): experiment.controller.decision_cost}
    costs |= {("controllers", at, "decision_cost"): one.decision_cost for at, one in enumerate(experiment.controllers)}
    for place in (key for key, cost in costs.items() if cost and not experiment.simulates_packets):
        yield place, f"with engine '{engine}' a decision takes as long as it takes; leave it out, or use 'virtual'"


def _routing(experiment: Experiment) -> Iterator[tuple[KeyPath, str]]:
    """Paths that an engine or a rack does not have."""
    routing, engine, switch = experiment.routing, experiment.engine, experiment.rack.switch
    if engine == "fluid" and routing.many_paths:
        yield ("routing",), "the fluid model has no packets, and divides flows evenly among paths; say 'ecmp'"
    if routing.name == "adaptive":
        hops = Tables(experiment.shape).hops.values()
        most = max((len(ports) for ways in hops for ports in ways.values()), default=0)
        if most > MOST_NEXT_HOPS:
            yield ("routing",), f"'adaptive' compares up to {MOST_NEXT_HOPS} ports; a switch has {most}; say 'spray'"
    if routing.name == "valiant":
        if engine == "kernel":
            yield ("routing",), "engine 'kernel' has shortest paths only; use 'virtual', or say 'spray'"
        if switch.pfc or (switch.memory and switch.memory.lossless):
            yield ("routing",), "with 'valiant' pauses could wait for each other in a cycle; leave PFC out"


def _apps(experiment: Experiment) -> Iterator[tuple[KeyPath, str]]:
    """Where their packets are not carried, and what they alone do not tell."""
    if (engine := experiment.engine) not in {"kernel", "live"}:
        yield ("apps",), f"engine '{engine}' carries no packets of other programs; leave it out, or use 'kernel'"
    if experiment.time.dilation == "auto" and not len(experiment.plan):
        yield DILATION, "'auto' measures what flows need, and there are none; say a number, such as 1000"


def _switch(experiment: Experiment) -> Iterator[tuple[KeyPath, str]]:
    """What an engine's switches do not have."""
    switch, engine = experiment.rack.switch, experiment.engine
    if switch.tables and engine == "fluid":
        said = switch.model_fields_set
        named = next(one for one in ("classes", "queues", "trim", "marking") if one in said)
        yield ("rack", "switch", named), f"engine '{engine}' has one queue per port; leave it out, or use 'virtual'"
    if switch.deadlock == "allow" and engine == "fluid":
        yield ("rack", "switch", "deadlock"), f"engine '{engine}' cannot tell of a deadlock; say 'refuse'"
    for key in ("groups", "pool", "watchdog"):
        if getattr(switch, key) and engine == "fluid":
            yield ("rack", "switch", key), f"engine '{engine}' does not have it, so far; leave it out"


def _receiver(experiment: Experiment) -> Iterator[tuple[KeyPath, str]]:
    """What receivers cannot grant."""
    if experiment.receiver is None:
        return
    if experiment.engine == "fluid":
        yield ("receiver",), "the fluid model has no packets that could be granted; leave it out"


def _fluid(experiment: Experiment) -> Iterator[tuple[KeyPath, str]]:
    """What a model of rates does not have."""
    if experiment.events:
        yield ("events",), "in the fluid model nothing changes while traffic goes on; leave them out, or use 'virtual'"
    own = {("packets",): bool(experiment.packets), ("rack", "nic"): experiment.rack.nic != Nic()}
    own[("traffic",)] = not experiment.packets and bool((experiment.plan.tos != USUAL_TOS).any())
    for key in (key for key, there in own.items() if there):
        yield key, "the fluid model has no packets, so that they have no DSCP, and all can be marked; leave it out"
