"""`rack.kind: custom`: nodes and links one by one, in the experiment file or in one of their own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from testbed.base.inputs import Input
from testbed.errors import BadInput
from testbed.experiment.block import Named, Part, refuse
from testbed.experiment.topology import graph_file
from testbed.experiment.topology.any_rack import Routed
from testbed.experiment.topology.graph import BadGraph, Graph, GraphLink, GraphNode, Role
from testbed.experiment.topology.links import OwnSettings, link_kind
from testbed.experiment.topology.shape import LinkKind, Shape


class Node(Named, Part):
    """A host or a switch. A plain name will do."""

    name: Annotated[str, Field(min_length=1)] = Field(description="Its name.")
    role: Role = Field(
        default="",
        description="`host` or `switch`; by default a node with one link is a host. Each link of a `host` is a NIC, "
        "and a host of traffic: `gpu:1`, `gpu:2`.",
    )
    bond: Annotated[bool, Field(strict=True)] = Field(
        default=False, description="Its links [are one](racks.md#bonds) for traffic, as with LACP."
    )


class CustomLink(OwnSettings):
    """A link between two nodes; what it does not say is as `rack.link` has it."""

    ends: Annotated[list[str], Field(min_length=2, max_length=2)] = Field(description="The names of two nodes.")


class Custom(Routed):
    """Any graph of hosts and switches. Hosts are numbered h1, h2, ... in the order of the nodes."""

    kind: Literal["custom"] = Field(description="`custom`")
    file: str | None = Field(
        default=None,
        description="YAML with `nodes` and `links` as below, or [another tool's](racks.md#custom-racks); relative to "
        "this file.",
    )
    nodes: list[Node] = Field(default=[], description="Without `file`: all hosts and switches.")
    links: list[CustomLink] = Field(default=[], description="Without `file`: the links.")

    @cached_property
    def shape(self) -> Shape:
        """As drawn. Refuses what makes no rack."""
        if bool(self.file) == bool(self.nodes or self.links):
            refuse("file", "say either 'file', or 'nodes' and 'links'")
        try:
            return self._graph.shape(self._default)
        except BadGraph as error:
            refuse(*(("file", f"{error.place}: {error}") if self.file else (error.place, str(error))))
        except BadInput as error:
            refuse("file", str(error))

    @cached_property
    def _graph(self) -> Graph:
        if self.file:
            return graph_file.read(self._path)
        nodes = [GraphNode(one.name, f"nodes.{n}", one.role, one.bond) for n, one in enumerate(self.nodes)]
        links = [GraphLink((one.ends[0], one.ends[1]), f"links.{n}", one.said()) for n, one in enumerate(self.links)]
        return Graph(nodes, links, "nodes")

    @property
    def _form(self) -> str:
        """What the file was taken for."""
        graph, shape = self._graph, self.shape
        parts = f"{self.size:,} hosts; {len(shape.links):,} links; switches: {len(shape.switches):,}"
        nics = f"hosts with several links: {len(graph.several):,}, each of their NICs a host" if graph.several else ""
        bonds = f"hosts with a bond: {len(graph.bonded):,}" if graph.bonded else ""
        return "; ".join(filter(None, (f"{graph.form}: {parts}", nics, bonds, *graph.notes)))

    @property
    def _default(self) -> LinkKind:
        return link_kind("link", self.link)

    @property
    def _path(self) -> Path:
        return Path(self.file or "").expanduser()

    @property
    def size(self) -> int:
        """As many hosts as there are; one with a bond is one."""
        return len(set(self.shape.home.values()))

    def inputs(self) -> list[Input]:
        """The file, if there is one. Raises BadInput if it has gone."""
        return [Input.of("rack.file", self._path, self._form)] if self.file else []

    @property
    def nodes_of(self) -> Mapping[str, str]:
        """Our names of hosts by those in the file."""
        return {theirs: ours for ours, theirs in self.shape.aliases.items() if ours in self.shape.link_of}
