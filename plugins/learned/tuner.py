"""What learned tuners share as plugins: options, the policy's file, and thresholds before the first decision."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from testbed.base.arrays import Floats, Ints
from testbed.errors import BadInput
from testbed.plugin import PluginConfig
from testbed.tuner import Ports, Thresholds, Tuner
from testbed.units import Size, show_size

from .grid import Grid
from .observation import Observation, width
from .policy import Kind, OnnxPolicy

Workload = Literal["websearch", "datamining"]
# Of utilisation and queue in the reward: PET's section 5.2.
WEIGHTS: dict[str, tuple[float, float]] = {"websearch": (0.3, 0.7), "datamining": (0.7, 0.3)}
BLIND = "-without-flows"  # ending of the policies that see neither incast degree nor mice share: PET's ablation
SLOTS = 3  # seen side by side: ACC's k, which PET leaves open
FIRST = (80e3, 320e3, 0.2)  # Kmin, Kmax, Pmax before the first decision, as near as the grid comes


def shipped_name(workload: str, *, blind: bool) -> str:
    """Of a policy."""
    return workload + BLIND if blind else workload


class LearnedConfig(PluginConfig):
    """Options that all learned tuners have."""

    workload: Workload = Field(default="websearch", description="Whose policy and weights of the reward.")
    policy: str = Field(default="", description="Another policy file (ONNX).")
    slot: float = Field(default=10, ge=1, le=1000, description="Time between two decisions, in base RTTs.")
    alpha: Size = Field(default=20e3, ge=1e3, description="Least Kmin, E(0); the other E(n) are its doubles.")


class LearnedTuner(Tuner):
    """Loads the policy, keeps the observation. ``folder`` has the shipped policies, one per workload."""

    folder: Path
    config: LearnedConfig

    def __init__(self, config: LearnedConfig, ports: Ports) -> None:
        super().__init__(config, ports)
        self.slot = config.slot * ports.base_rtt
        self.weights = WEIGHTS[config.workload]
        self.grid = self.make_grid(config.alpha)
        self.scale = self.scaled(config, ports)
        self.current = self._first(ports)
        flows = self.sees_flows(config)
        self.observation = Observation(ports, SLOTS, flows=flows, scale=self.scale)
        self.file = self.inputs(config)["policy"]
        self.policy = OnnxPolicy.load(self.file, self.kind(flows=flows), ports.switch)

    @classmethod
    def inputs(cls, config: PluginConfig) -> dict[str, Path]:
        assert isinstance(config, LearnedConfig)
        return {"policy": Path(config.policy) if config.policy else cls.folder / f"{cls.shipped(config)}.onnx"}

    @classmethod
    def shipped(cls, config: LearnedConfig) -> str:
        """Name of the policy in ``folder``."""
        return shipped_name(config.workload, blind=False)

    @classmethod
    def sees_flows(cls, config: LearnedConfig) -> bool:  # noqa: ARG003 - for those that have a choice
        """Whether its policy sees incast degree and mice share."""
        return False

    @classmethod
    def scaled(cls, config: LearnedConfig, ports: Ports) -> Floats:  # noqa: ARG003 - for those that do
        """How many of the grid's bytes a byte is worth, shape (n,): a port that is faster has longer queues."""
        return np.ones(len(ports))

    @classmethod
    @abstractmethod
    def make_grid(cls, alpha: float) -> Grid:
        """The actions."""

    @classmethod
    @abstractmethod
    def outputs(cls) -> int:
        """Scores that the network gives per queue."""

    @classmethod
    def kind(cls, *, flows: bool) -> Kind:
        """What its policies must be."""
        return Kind(cls.name, width(SLOTS, flows=flows), cls.outputs())

    def initial(self) -> Thresholds:
        return self.thresholds(self.current)

    def thresholds(self, actions: Ints) -> Thresholds:
        """Those of rows of indices, shape (n, 3)."""
        kmin, kmax, pmax = self.grid.values(actions)
        return Thresholds(kmin * self.scale, kmax * self.scale, pmax)

    def unusable(self) -> Thresholds:
        """Thresholds of nan, where the network returned nan: they are rejected."""
        return Thresholds.uniform(len(self.ports), np.nan, np.nan, np.nan)

    def _first(self, ports: Ports) -> Ints:
        """Valid actions, as near to `FIRST` as the grid and every buffer allow."""
        valid = [self.grid.joint(float(buffer)) for buffer in ports.buffer / self.scale]
        for name, buffer, actions in zip(ports.name, ports.buffer, valid, strict=True):
            if not len(actions):
                raise BadInput(
                    f"tuner '{self.name}', port {name}: no Kmin < Kmax of its grid (Kmin from "
                    f"{show_size(self.grid.kmin[0])}, Kmax from {show_size(self.grid.kmax[0])}) fits into the buffer "
                    f"of {show_size(float(buffer))}; raise the switch's buffer{self._or_alpha()}"
                )
        return np.array([actions[np.argmin(self._distance(actions))] for actions in valid])

    def _or_alpha(self) -> str:
        """Helps where Kmax begins with it, too."""
        return ", or lower alpha" if self.grid.kmax[0] == self.grid.kmin[0] else ""

    def _distance(self, actions: Ints) -> Floats:
        kmin, kmax, pmax = self.grid.values(actions)
        return np.asarray(abs(np.log2(kmin / FIRST[0])) + abs(np.log2(kmax / FIRST[1])) + 10 * abs(pmax - FIRST[2]))
