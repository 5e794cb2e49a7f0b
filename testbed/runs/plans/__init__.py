"""Test plans of operators, run here: cases that say what a switch must show, and what was measured.

`case` has what a case is made of, `rack` the switch under test, `observed` what a run showed, `packets` single packets;
`rocev2` and `ecn` are the plans, `shipped` has both, `follow` runs them, and `answer` is what a reader gets.
"""
