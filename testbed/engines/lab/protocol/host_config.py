"""A run's configuration for the agent on one host. Times are seconds of real time, rates bit/s; nothing is dilated."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class HostConfig(BaseModel):
    """One host's part of a run. Columns of its flows come as arrays: ``dst`` (position in ``hosts``), size, start.

    Flows are numbered as in the whole run: this host's are ``first`` and those that follow.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: int  # its own position in `hosts`
    hosts: list[str]  # names in the experiment: h1, h2, ...
    interface: str
    address: str  # on that interface; empty for the only one that it has
    controller: str  # name, or the name of a file
    source: str  # content of that file; empty for an installed controller
    options: dict[str, Any]
    compiled: bool  # whether machine code decides, if the controller can be compiled
    isolate: bool  # whether a controller in C has a process of its own
    flows: int  # of the whole run
    first: int
    payload: int
    int_hops: int
    burst: int
    line_rate: float
    hops: int
    duration: float
    warmup: float
    interval: float  # between two samples
    series: list[int]  # flows of this host that have series, numbered from 0
    decisions: int  # rows to keep
    port: int
    p_key: int
    feedback_delay: float
    patience: float  # after so long without a message the control channel counts as lost
    deadline: float  # after so long nothing of this run is on the host any more, whatever happens
