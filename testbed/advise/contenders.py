"""What a change is compared with: vendors' defaults, rules of thumb, learned tuners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testbed.advise.evidence import Settings
from testbed.advise.space import Space
from testbed.experiment.resolved import Resolved
from testbed.units import SIZE_UNITS, exactly

DCTCP = 7  # Kmin above BDP / 7 keeps a link full (Alizadeh et al., DCTCP, section 3.4)


@dataclass(frozen=True)
class Rule:
    """Thresholds in bytes at ``rate`` bit/s, which others scale; 0 for ports of any rate."""

    name: str
    kmin: float
    kmax: float
    pmax: float
    rate: float
    source: str


RULES = (
    Rule("SONiC's default", 1_048_576, 2_097_152, 0.05, 0, "sonic-buildimage, profile AZURE_LOSSLESS"),
    Rule("Cumulus Linux's RoCE", 150e3, 1.5e6, 1.0, 0, "NVIDIA's manual of Cumulus Linux 5.3, nv set qos roce"),
    Rule("Cisco's blueprint", 150e3, 3e6, 0.07, 0, "Cisco, networking blueprint for AI/ML, Nexus 9000"),
    Rule("DCQCN's paper", 5e3, 200e3, 0.01, 40e9, "Zhu et al., SIGCOMM 2015 (Microsoft), scaled from 40 Gbit/s"),
    Rule("HPCC's scaling", 100e3, 400e3, 0.2, 25e9, "HPCC's repository (Alibaba), 100 and 400 kB per 25 Gbit/s"),
)
LEARNED = {"PET": "pet", "ACC": "acc"}


@dataclass(frozen=True)
class Contender:
    """A candidate with a name, and where it comes from."""

    name: str
    candidate: Settings
    source: str
    learned: bool = False


def contenders(space: Space, resolved: Resolved) -> list[Contender]:
    """Rules set Kmin, Kmax and Pmax of every queue that has them among what may be changed; tuners set them as well."""
    places = _places(space)
    if not places:
        return []
    port = resolved.layout.shape.ports[resolved.layout.bottleneck].link.rate
    found = [Contender(one.name, _of(one, places, port, space), one.source) for one in RULES]
    product = port * resolved.layout.longest_rtt / 8
    step = Rule("BDP / 7", product / DCTCP, product / DCTCP, 1.0, 0, "DCTCP's rule, a step at the rack's longest RTT")
    found.append(Contender(step.name, _of(step, places, port, space), step.source))
    also = [key.removesuffix(".kmin") for one in space.knobs for key in one.also if key.endswith(".kmin")]
    queues = [f"{place}=tuner" for place in (*places, *also) if place != "tuner"]
    for name, tuner in LEARNED.items():
        found.append(
            Contender(
                name, (f"tuner={{name: {tuner}}}", *queues), f"the tuner '{tuner}', as it is shipped", learned=True
            )
        )
    return found


def _places(space: Space) -> list[str]:
    keys = {one.key for one in space.knobs}
    found = [key.removesuffix(".kmin") for key in keys if key.endswith(".kmin")]
    return sorted(one for one in found if {f"{one}.kmax", f"{one}.pmax"} <= keys)


def _of(rule: Rule, places: Sequence[str], port: float, space: Space) -> Settings:
    scale = port / rule.rate if rule.rate else 1.0
    kmin, kmax = (exactly(round(scale * size), SIZE_UNITS) for size in (rule.kmin, rule.kmax))
    texts = {f"{place}.{key}": text for place in places
             for key, text in (("kmin", kmin), ("kmax", kmax), ("pmax", f"{100 * rule.pmax:g} %"))}  # fmt: skip
    return space.candidate(texts)
