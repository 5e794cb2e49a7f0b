"""`config.txt` of the simulators that descend from HPCC's: a key and its values per line.

What has a counterpart here is put into a draft; what has none is named in it. Their switches pause dynamically: the
memory of a switch is shared, each port's share 1/8 of what is free.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from testbed.errors import BadInput
from testbed.experiment import ns3_units
from testbed.experiment.imported.draft import Draft
from testbed.experiment.lines import Line, lines
from testbed.units import show_rate, show_size, show_time

BEGINS = ("ENABLE_QCN", "USE_DYNAMIC_PFC_THRESHOLD", "PACKET_PAYLOAD_SIZE", "TOPOLOGY_FILE", "FLOW_FILE", "CC_MODE")
SILENT = (  # files that it names, what it prints, and what is said under another key
    "TOPOLOGY_FILE", "FLOW_FILE", "TRACE_FILE", "ENABLE_TRACE", "QLEN_MON_START", "QLEN_MON_END",
    "QLEN_MON_FILE", "ENABLE_QCN", "USE_DYNAMIC_PFC_THRESHOLD", "SIMULATOR_STOP_TIME",
)  # fmt: skip
MAPS = ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")
MODES = {1: "dcqcn", 3: "hpcc", 7: "timely", 8: "dctcp"}


def is_one(first: Line) -> bool:
    """Whether a file that begins so is one of these."""
    return first.words[:1] != [] and first.words[0] in BEGINS


class HpccConfig:
    """What a file says, by key. Raises ValueError with the line, or OSError."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.said = {line.words[0]: line for line in lines(file, comment="{")}
        self.used: set[str] = set()

    def number(self, key: str, convert: Callable[[str], float] = float) -> float | None:
        """The value of a key, or None."""
        line = self.said.get(key)
        if line is None:
            return None
        self.used.add(key)
        return _number(line, 1, convert)

    def stop(self) -> float | None:
        """When the simulator stops, s."""
        return self.number("SIMULATOR_STOP_TIME")

    def into(self, draft: Draft, line_rate: float, controller: str) -> None:
        """All but the traffic's and the rack's files; ``line_rate`` is that of the hosts."""
        self._thresholds(draft)
        self._switch(draft)
        self._controller(draft, line_rate, controller)
        if payload := self.number("PACKET_PAYLOAD_SIZE"):
            draft.put("traffic.payload", show_size(payload))
        if loss := self.number("ERROR_RATE_PER_LINK"):
            draft.put("rack.link.loss", loss)
        if every := self.number("L2_ACK_INTERVAL"):
            draft.put("transport.ack_every", int(every))
        draft.put("transport.recovery", "go-back-n", "The simulators go back to what is missing.")
        down = self.said.get("LINK_DOWN")
        if down is not None and down.words[1:] == ["0"] * 3:
            self.used.add("LINK_DOWN")
        rest = [key for key in self.said if key not in self.used and key not in SILENT and "OUTPUT_FILE" not in key]
        draft.left_out += [
            f"{self.file.name}, line {self.said[key].number}: {' '.join(self.said[key].words)}" for key in rest
        ]

    def _map(self, key: str) -> dict[float, float]:
        """Rate to value."""
        line = self.said.get(key)
        if line is None:
            return {}
        self.used.add(key)
        count = line.whole(1, "the number of pairs", 1, 1000)
        if len(line.words) != 2 + 2 * count:
            line.refuse(f"{count} pairs of a rate in bit/s and a value")
        pairs = {_number(line, 2 + 2 * n): _number(line, 3 + 2 * n) for n in range(count)}
        if 0 in pairs:
            line.refuse("rates of more than 0 bit/s")
        return pairs

    def _thresholds(self, draft: Draft) -> None:
        kmin, kmax, pmax = (self._map(key) for key in MAPS)
        if not (kmin and kmax and pmax):
            return
        comments = ["KMIN_MAP, KMAX_MAP and PMAX_MAP; 1 kB there is 1000 B."]
        made = {}
        for name, pairs in (("kmin", kmin), ("kmax", kmax)):
            rate, value = next(iter(pairs.items()))
            made[name] = f"{show_size(value * 1000)} at {show_rate(rate)}"
            if len({each / at for at, each in pairs.items()}) > 1:
                comments.append(f"{name} does not follow the rate there: {_pairs(pairs)}; written is the first.")
        if len(set(pmax.values())) > 1:
            comments.append(f"pmax differs by rate there: {_pairs(pmax)}; written is the first.")
        draft.put("tuner", {"name": "static", **made, "pmax": next(iter(pmax.values()))}, *comments)

    def _switch(self, draft: Draft) -> None:
        size = self.number("BUFFER_SIZE")
        if size is None:
            return
        dynamic = self.number("USE_DYNAMIC_PFC_THRESHOLD") != 0
        share = {"alpha": 0.125} if dynamic else {}
        group = {"pfc": "on", **share, "reserved": "4 KiB", "xon_offset": "3 KiB"}
        draft.put(
            "rack.switch",
            {
                "pool": {"size": f"{size:g} MiB"},
                "classes": {"rdma": {"dscp": "0-63", "queue": 3, "group": 3}},
                "groups": {3: group},
            },
            "BUFFER_SIZE is the memory of a switch in MiB. All traffic is in one lossless group, which pauses at 1/8",
            "of what is free; there the share doubles with each doubling of a port's rate above the hosts'.",
        )

    def _controller(self, draft: Draft, line_rate: float, controller: str) -> None:
        mode = self.number("CC_MODE")
        if controller:
            draft.put("controller", controller, "As asked for; the file's CC_MODE and its parameters are not used.")
            return
        name = MODES.get(int(mode or 0))
        if name is None:
            line = self.said.get("CC_MODE")
            known = ", ".join(f"{number} ({one})" for number, one in MODES.items())
            raise BadInput(
                f"{self.file}{f', line {line.number}' if line else ''}: CC_MODE: expected {known}, got "
                f"{'none' if mode is None else f'{mode:g}'}; say --controller NAME"
            )
        options = {"dcqcn": self._dcqcn, "hpcc": self._hpcc, "timely": self._timely, "dctcp": self._dctcp}[name](
            line_rate
        )
        said = {key: value for key, value in options.items() if value is not None}
        draft.put("controller", {"name": name, **said}, f"CC_MODE {mode:g}")

    def _rate(self, key: str) -> float | None:
        return self.number(key, ns3_units.rate)

    def _shown(self, key: str) -> str | None:
        value = self._rate(key)
        return None if value is None else show_rate(value)

    def _micros(self, key: str) -> str | None:
        value = self.number(key)
        return None if value is None else show_time(value * 1e-6)

    def _dcqcn(self, line_rate: float) -> dict[str, object]:
        clamped = self.number("CLAMP_TARGET_RATE")
        steps = self.number("FAST_RECOVERY_TIMES")
        alpha = self._micros("ALPHA_RESUME_INTERVAL")
        return {
            "reference_rate": show_rate(line_rate),
            "g": self.number("EWMA_GAIN"),
            "alpha_period": alpha,
            "cnp_interval": alpha,  # each ACK has the mark there
            "cut_period": self._micros("RATE_DECREASE_INTERVAL"),
            "clamp_target": None if clamped is None else "cnp" if clamped else "increase",
            "increase_timer": self._micros("RP_TIMER"),
            "byte_counter": 0,
            "recovery_steps": None if steps is None else int(steps),
            "additive": self._shown("RATE_AI"),
            "hyper": self._shown("RATE_HAI"),
            "min_rate": self._shown("MIN_RATE"),
            "window": "bdp" if self.number("HAS_WIN") else "none",
        }

    def _hpcc(self, line_rate: float) -> dict[str, object]:
        eta, additive = self.number("U_TARGET"), self._rate("RATE_AI")
        stages = self.number("MI_THRESH")
        flows = None if not additive else max(round((1 - (0.95 if eta is None else eta)) * line_rate / additive), 1)
        return {
            "eta": eta,
            "max_stage": None if stages is None else int(stages),
            "flows": flows,  # W_AI is RATE_AI x T there, and W (1 - eta) / flows here
            "min_rate": self._shown("MIN_RATE"),
        }

    def _timely(self, line_rate: float) -> dict[str, object]:
        return {
            "reference_rate": show_rate(line_rate),
            "delta": self._shown("RATE_AI"),
            "min_rate": self._shown("MIN_RATE"),
        }

    def _dctcp(self, _line_rate: float) -> dict[str, object]:
        return {"g": self.number("EWMA_GAIN")}


def _number(line: Line, place: int, convert: Callable[[str], float] = float) -> float:
    try:
        value = convert(line.words[place])
    except (IndexError, ValueError):
        value = -1.0
    if not 0 <= value < 1e15:  # nan as well
        line.refuse(f"a number that is not negative as word {place + 1}")
    return value


def _pairs(pairs: dict[float, float]) -> str:
    return ", ".join(f"{value:g} at {show_rate(rate)}" for rate, value in pairs.items())
