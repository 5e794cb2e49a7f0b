"""An experiment as an environment for reinforcement learning, over the fluid model and the virtual engine.

    env = make("incast-64", controller="adpg-nn", form="vector")   # a VecEnv of stable-baselines3, a row per flow
    env = make("incast-64", engine="virtual", form="parallel")     # a ParallelEnv of PettingZoo, an agent per flow
    env = make("incast-8", form="single")                          # an Env of gymnasium that acts for all flows at once

What is observed, what an action does, and what is rewarded, the controller declares (`testbed.learned`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

from testbed.base.extras import need

if TYPE_CHECKING:
    from .parallel import ParallelFlows
    from .single import JointFlows
    from .vector import VectorFlows

Name = Literal["fluid", "virtual"]
NEEDED = {"vector": ("stable_baselines3",), "parallel": ("pettingzoo",), "single": ()}


@overload
def make(
    experiment: str,
    *,
    form: Literal["vector"] = ...,
    engine: Name = ...,
    controller: str = ...,
    settings: Sequence[str] = ...,
) -> VectorFlows: ...
@overload
def make(
    experiment: str,
    *,
    form: Literal["parallel"],
    engine: Name = ...,
    controller: str = ...,
    settings: Sequence[str] = ...,
) -> ParallelFlows: ...
@overload
def make(
    experiment: str,
    *,
    form: Literal["single"],
    engine: Name = ...,
    controller: str = ...,
    settings: Sequence[str] = ...,
) -> JointFlows: ...
def make(
    experiment: str,
    *,
    form: Literal["vector", "parallel", "single"] = "vector",
    engine: Name = "fluid",
    controller: str = "",
    settings: Sequence[str] = (),
) -> VectorFlows | ParallelFlows | JointFlows:
    """``experiment`` by name or file, under ``settings`` as of ``--set``; an episode is ``time.duration`` long.

    Raises BadInput for what cannot be, such as a controller that declares no observation.
    """
    need("gymnasium", *NEEDED[form])
    from .flows import Flows

    flows = Flows(experiment, engine=engine, controller=controller, settings=settings)
    if form == "parallel":
        from .parallel import ParallelFlows

        return ParallelFlows(flows)
    if form == "single":
        from .single import JointFlows

        return JointFlows(flows)
    from .vector import VectorFlows

    return VectorFlows(flows)
