"""Jobs: ranks that compute, and exchange messages that wait for each other."""

from testbed.experiment.traffic.jobs.files import ChakraTrace, GoalFile
from testbed.experiment.traffic.jobs.operations import AllGather, AllReduce, AllToAllV, Broadcast, Reduce, ReduceScatter
from testbed.experiment.traffic.jobs.training import Pipeline, Training
from testbed.experiment.traffic.jobs.workload import SimAIWorkload

OneJob = (
    AllReduce
    | AllGather
    | ReduceScatter
    | Broadcast
    | Reduce
    | AllToAllV
    | Pipeline
    | Training
    | GoalFile
    | ChakraTrace
    | SimAIWorkload
)
