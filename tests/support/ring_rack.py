"""A ring of switches, whose pauses can wait for each other."""

from __future__ import annotations

SWITCHES = 5  # the fewest at which a shortest path leads through another one, in one direction only
ALLOWED = "deadlock: allow"


def ring(*switch: str, share: int = 100, flows: int = SWITCHES) -> str:
    """Every host sends to the one behind the next, at that share of its line."""
    numbers = range(1, SWITCHES + 1)
    nodes = ", ".join([f"{kind}{number}" for kind in "hs" for number in numbers])
    links = [f"{{ends: [h{number}, s{number}]}}" for number in numbers]
    links += [f"{{ends: [s{number}, s{number % SWITCHES + 1}]}}" for number in numbers]
    sent = [f"{{src: h{number}, dst: h{(number + 1) % SWITCHES + 1}}}" for number in numbers][:flows]
    settings = "".join(f"    {one}\n" for one in switch)
    return f"""
engine: virtual
controller: {{name: fixed, rate: {share} %}}
tuner: {{name: static, kmin: 3 MB, kmax: 4 MB, pmax: 0.1}}
time: {{duration: 700 us, warmup: 200 us}}
record: {{report: false, decisions: 0}}
traffic: {{pattern: flows, flows: [{", ".join(sent)}]}}
rack:
  kind: custom
  nodes: [{nodes}]
  links: [{", ".join(links)}]
  switch:
{settings}"""
