"""From a switch's configuration and a workload to a change that can be trusted: `testbed advise`.

`question` has what is asked, `knob`, `objective` and `constraint` its words; `evidence` runs candidates. On one half of
the draws `search` tries those that `proposer` expects most of, and `choose` picks one. `check` measures it on the other
half, and `verdict` says whether to change anything. `change` and `alarms` write what to do, `page` what to show.
"""
