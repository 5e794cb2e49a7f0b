"""What the tuners told of themselves, slot by slot: read back from ``tuners.parquet``, and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from testbed.errors import BadInput
from testbed.results.folder import read_table
from testbed.results.report.plot import Line, Panel, Plot, ms, over_time, points_of, spread
from testbed.results.tables import OF_A_SLOT
from testbed.results.tuner_log import TunerLog

REWARD = "reward"
MOST_COLOURS = 8


def read(file: Path) -> list[TunerLog]:
    """The logs of a file that `write` made, without what was refused. Raises BadInput for another file."""
    table = read_table(file)
    if missing := set(OF_A_SLOT) - set(table.column_names):
        raise BadInput(f"{file} is damaged: column {sorted(missing)[0]} is missing")
    rows: dict[str, TunerLog] = {}
    columns = {name: table[name].to_pylist() for name in table.column_names}
    reported = [name for name in columns if name not in OF_A_SLOT]
    for row, switch in enumerate(columns["switch"]):
        log = rows.setdefault(switch, TunerLog(switch))
        report = {name: columns[name][row] for name in reported}
        log.decided(columns["time"][row], np.nan, report, columns["state"][row])
    return list(rows.values())


def reward_plots(tuners: Sequence[TunerLog], duration: float, warmup: float) -> list[Plot]:
    """The reward of each switch over time; none where no tuner told one."""
    told = [one for one in tuners if np.isfinite(one.reported(REWARD)).any()]
    if not told:
        return []
    few = len(told) <= MOST_COLOURS
    lines = []
    for number, one in enumerate(told):
        time, reward = np.array(one.time), one.reported(REWARD)
        kept = spread(time, points_of(len(told)))
        colour, width, opacity = (f"c{number}", 1.5, 1.0) if few else ("accent", 1.0, 0.35)
        lines.append(Line(ms(time[kept]), reward[kept], one.switch, colour, width=width, opacity=opacity))
    mean = np.nanmean(np.concatenate([one.reported(REWARD) for one in told]))
    note = f"what each switch's tuner says that its last slot was worth; mean {mean:.3f}{_states(told)}"
    return [Plot("Reward of the tuner", note, [Panel(lines)], over_time(duration, warmup), "reward")]


def _states(tuners: Sequence[TunerLog]) -> str:
    """How many slots of all were spent in which state, and when the first switch fell into each."""
    states = [state for one in tuners for state in one.states]
    shares = []
    for state in dict.fromkeys(filter(None, states)):
        first = min(at for one in tuners for at, word in zip(one.time, one.states, strict=True) if word == state)
        shares.append(f"{state} {100 * states.count(state) / len(states):.0f} % (first at {1e3 * first:.3g} ms)")
    return "; " + ", ".join(shares) if shares else ""
