"""`rack.kind: rail-optimised`: servers with several NICs, a switch per NIC, and NVLink inside.

NVIDIA DGX H100 SuperPOD reference architecture: the n-th NIC of every server is at the n-th leaf, its rail, so that
GPUs of one number are one hop apart; spines join the rails. A GPU and its NIC are one host here, and one rank of a job.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from testbed.experiment.block import Count, Part
from testbed.experiment.topology.any_rack import Regular, Routed
from testbed.experiment.topology.links import Delay, LinkSettings, PositiveRate, link_kind
from testbed.experiment.topology.servers import Servers
from testbed.experiment.topology.shape import End, Shape


class NvLink(Part):
    """Not simulated, but computed: messages of jobs take size / rate + delay on it."""

    rate: PositiveRate = Field(default=3.6e12, description="Of each GPU, one direction; an H100's NVLink has 450 GB/s.")
    delay: Delay = Field(default=1e-6, description="Until the first byte of a message is there.")


class RailOptimised(Regular, Routed):
    """Hosts h1 to hN are the NICs of the first server, and so on; NIC n of each server is at the switch rail<n>."""

    kind: Literal["rail-optimised"] = Field(description="`rail-optimised`")
    servers: Count = Field(default=4, description="Servers.")
    nics: Count = Field(default=8, description="NICs of a server, and rails.")
    spines: Count = Field(default=4, description="Spines, with a link to each rail.")
    uplink: LinkSettings = Field(default=LinkSettings(), description="The links between rails and spines.")
    nvlink: NvLink = Field(default=NvLink(), description="What joins the GPUs of a server.")

    def inside(self) -> Servers:
        """As many NICs each."""
        return Servers(self.nics, self.nvlink.rate, self.nvlink.delay)

    def parts(self) -> tuple[int, int]:
        """Each rail is linked to each spine."""
        return self.nics + self.spines, self.nics * self.spines

    @property
    def size(self) -> int:
        """Of all servers."""
        return self.servers * self.nics

    @property
    def shape(self) -> Shape:
        """A rail's ports: the servers in their order, then the spines."""
        link, uplink = link_kind("link", self.link), link_kind("uplink", self.uplink)
        rails = [f"rail{n}" for n in range(1, self.nics + 1)]
        spines = [f"spine{n}" for n in range(1, self.spines + 1)]
        links = [
            link.between(End(f"h{server * self.nics + nic + 1}", 0), End(rail, server + 1))
            for server in range(self.servers)
            for nic, rail in enumerate(rails)
        ]
        links += [
            uplink.between(End(rail, self.servers + n), End(spine, place))
            for place, rail in enumerate(rails, start=1)
            for n, spine in enumerate(spines, start=1)
        ]
        return Shape(self.kind, (*rails, *spines), tuple(links))
