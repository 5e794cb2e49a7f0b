"""Who sends to whom: one module per pattern, each a block `traffic:` of the experiment file."""

from typing import Annotated

from testbed.experiment.block import ChosenBy
from testbed.experiment.traffic.all_to_all import AllToAll
from testbed.experiment.traffic.composed import Mix, Phases
from testbed.experiment.traffic.incast import Incast
from testbed.experiment.traffic.jobs import OneJob
from testbed.experiment.traffic.jobs.several import Jobs
from testbed.experiment.traffic.listed import FlowList
from testbed.experiment.traffic.long_short import LongShort
from testbed.experiment.traffic.nothing import Nothing
from testbed.experiment.traffic.osu import OsuAllToAll
from testbed.experiment.traffic.permutation import Permutation
from testbed.experiment.traffic.poisson import Poisson
from testbed.experiment.traffic.tracefile import TraceFile

Traffic = Annotated[
    Incast
    | AllToAll
    | LongShort
    | OsuAllToAll
    | Permutation
    | OneJob
    | Jobs
    | Poisson
    | Phases
    | Mix
    | TraceFile
    | FlowList
    | Nothing,
    ChosenBy("pattern"),
]
