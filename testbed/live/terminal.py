"""A run on a terminal, drawn anew with every update and fitted to the terminal's size."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from testbed.results.fitted import Fitted, Prose, packed
from testbed.units import rounded, show_rate, show_size, show_time

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table

STEPS = "▁▂▃▄▅▆▇█"
KEPT = 400  # updates behind a sparkline: no terminal is wider
CALM = 0.3  # weight of the newest goodput in the order of flows, so that the rows do not jump
COLOURS = {"clean": "green", "degraded": "bold yellow", "failed": "bold red"}
UNKNOWN = "-"
BESIDE_A_CURVE = 50  # columns for a name, a value and a second one
NARROWEST_CURVE = 8


class View:
    """What is known of a run; rich prints it. Feed it events with `hear`."""

    def __init__(self) -> None:
        self.stage = "waiting for the run"
        self.scene: dict[str, Any] = {}
        self.update: dict[str, Any] = {}
        self.queue: deque[float] = deque(maxlen=KEPT)
        self.rtt: deque[float] = deque(maxlen=KEPT)
        self.goodput: list[float] = []  # smoothed, bit/s, per flow
        self.port = 0  # position of the bottleneck

    def hear(self, name: str, data: dict[str, Any]) -> None:
        """Take in one event. Raises KeyError, ValueError or IndexError if it is not of our kind."""
        if name == "stage":
            self.stage = str(data["text"])
        elif name == "scene":
            self.scene, self.update, self.goodput = data, {}, []
            self.queue.clear()
            self.rtt.clear()
            self.port = [port["name"] for port in data["ports"]].index(data["bottleneck"])
        elif name == "update":
            self.update = data
            self.queue.append(data["ports"]["queue"][self.port] or 0.0)
            self.rtt.append(data["rtt"]["p50"] or 0.0)
            now = [value or 0.0 for value in data["flows"]["goodput"]]
            before = self.goodput or now
            self.goodput = [CALM * new + (1 - CALM) * old for new, old in zip(now, before, strict=True)]

    def line(self) -> str:
        """The same in one line of plain text, for where there is no terminal."""
        if not self.update:
            return self.stage
        told = self.update
        share = told["time"] / self.scene["duration"]
        return (
            f"{min(1.0, share):4.0%}  {_clock(told['time'], self.scene['duration'])}  "
            f"utilisation {_share(self._of_port('utilisation'))}  queue {_size(self._of_port('queue'))}  "
            f"RTT p50 {_time(told['rtt']['p50'])} p99 {_time(told['rtt']['p99'])}  Jain {_plain(told['jain'])}  "
            f"drops so far {_count(self._of_port('drops'))}  {self._shares()}{self._iterations()}"
            f"{told['verdict']}"
        )

    def _shares(self) -> str:
        """Of several controllers."""
        told = zip(self.scene["controllers"], self.update["controllers"]["share"], strict=True)
        shares = [f"{name} {_share(share)}" for name, share in told]
        return f"shares {', '.join(shares)}  " if len(shares) > 1 else ""

    def _iterations(self) -> str:
        """Of jobs."""
        told = zip(self.scene["jobs"], self.update["jobs"]["iterations"], strict=True)
        done = [f"{job['name']} {number}/{job['iterations']}" for job, number in told]
        return f"iterations {', '.join(done)}  " if done else ""

    def _of_port(self, name: str) -> float | None:
        value: float | None = self.update["ports"][name][self.port]
        return value

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        if not self.scene:
            yield Text(self.stage)
            return
        width, height = options.max_width, options.height or console.height
        top = self._head(width)
        if self.update:
            top += [Text(), *self._figures(width), *self._queues(width)]
            top += [*self._controllers(width), *self._jobs(width)]
        else:
            top.append(Text(self.stage, style="dim"))
        yield from top[:height]
        reasons = [f" - {reason}" for reason in self.update.get("reasons", [])]
        lines = sum(math.ceil(len(reason) / width) for reason in reasons)
        room = height - len(top) - lines - 2  # an empty line and the table's head
        if self.update and room > 0:
            yield Text()
            yield self._flows(width, room)
        if height >= len(top) + lines:
            yield from (Text(reason, style="yellow") for reason in reasons)

    def _head(self, width: int) -> list[RenderableType]:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        scene, told = self.scene, self.update
        tuner = f" + {scene['tuner']}" if scene["tuner"] else ""
        word = told.get("verdict", "")
        first = _row(width)
        first.add_row(
            Text(f"{scene['experiment']} · {scene['controller']}{tuner}", style="bold", overflow="ellipsis"),
            Text(f"{word} so far" if word else "", style=COLOURS.get(word, "")),
        )
        now = told.get("time", 0.0)
        clock = _clock(now, scene["duration"])
        second = Table.grid(padding=(0, 1), expand=True)
        second.add_column(ratio=1)
        second.add_column(no_wrap=True)
        bar = ProgressBar(total=scene["duration"], completed=now, complete_style="blue", finished_style="blue")
        second.add_row(bar, Text(clock))
        rate = scene["ports"][self.port]["rate"]
        about = (
            f"{scene['bottleneck']} at {_rate(rate)},",
            f"base RTT {_time(scene['base_rtt'])} (median flow),",
            f"{len(scene['flows'])} {'flows' if scene['flows_by'] == 'flow' else 'sending hosts'},",
            scene["how"],
        )
        return [first, second, *(Text(line, style="dim") for line in packed(about, width, " "))]

    def _figures(self, width: int) -> list[RenderableType]:
        from rich.text import Text

        told = self.update
        room = min(KEPT, width - BESIDE_A_CURVE)
        busy = self._of_port("utilisation") or 0.0
        total = sum(value or 0.0 for value in told["flows"]["goodput"])
        queue, highest = self._of_port("queue"), self._of_port("queue_max")
        p50, p99 = told["rtt"]["p50"], told["rtt"]["p99"]
        lines = [
            ("utilisation", meter(busy, room), "blue", _share(busy), f"goodput {_rate(total)}"),
            ("queue", sparkline(self.queue, room), "cyan", _size(queue), f"highest {_size(highest)}"),
            ("RTT p50", sparkline(self.rtt, room), "magenta", _time(p50), f"p99 {_time(p99)}"),
        ]
        drawn: list[RenderableType] = []
        for name, curve, colour, value, word in lines:
            if room < NARROWEST_CURVE:
                drawn += map(Text, packed([f"{name} {value}", word], width))
            else:
                text = (f"{name:12}", "bold"), (f"{curve:{room}}", colour), f" {value:>12}  ", (word, "dim")
                drawn.append(Text.assemble(*text))
        said = (
            f"Jain {_plain(told['jain'])}",
            f"marked {_share(self._of_port('marked'))}",
            f"drops so far {_count(self._of_port('drops'))}",
            f"Kmin {_size(self._of_port('kmin'))}",
            f"Kmax {_size(self._of_port('kmax'))}",
            f"Pmax {_share(self._of_port('pmax'))}",
        )
        return [*drawn, *map(Text, packed(said, width))]

    def _queues(self, width: int) -> list[RenderableType]:
        """Those of the bottleneck, where ports have several."""
        told, named = self.update["queues"], {}
        for i, one in enumerate(self.scene["queues"]):
            if one["port"] == self.scene["bottleneck"]:
                named[f"q{one['queue']} {one['classes']}"] = (
                    f"queue {_size(told['queue'][i]):>8}",
                    f"highest {_size(told['queue_max'][i]):>8}",
                    f"sends {_share(told['utilisation'][i]):>7}",
                    f"marked {_share(told['marked'][i]):>7}",
                    f"drops so far {_count(told['drops'][i])}",
                    f"held {_time(told['held'][i])}",
                )
        return _lines(named, width)

    def _controllers(self, width: int) -> list[RenderableType]:
        """What each of several gets; of a single one all figures tell."""
        names, told = self.scene["controllers"], self.update["controllers"]
        named = {
            name: (
                f"share {_share(told['share'][i]):>7}",
                f"goodput {_rate(told['goodput'][i]):>11}",
                f"RTT {_time(told['rtt'][i]):>8}",
                f"marked {_share(told['marked'][i]):>7}",
            )
            for i, name in enumerate(names if len(names) > 1 else ())
        }
        return _lines(named, width)

    def _jobs(self, width: int) -> list[RenderableType]:
        """What each job has done."""
        told = self.update["jobs"]
        named = {
            job["name"]: (
                f"iterations {told['iterations'][i]} of {job['iterations']}",
                f"the last {_time(told['last'][i])}",
                f"straggler {_plain(told['straggler'][i])}",
                f"bus bandwidth {_rate(told['bus_bandwidth'][i])}",
            )
            for i, job in enumerate(self.scene["jobs"])
        }
        return _lines(named, width)

    def _flows(self, width: int, room: int) -> Table:
        from rich.table import Table

        flows = self.update["flows"]
        columns: list[tuple[str, Any]] = [
            ("goodput", lambda i: _rate(flows["goodput"][i])),
            ("rate", lambda i: _rate(flows["rate"][i])),
            ("RTT", lambda i: _time(flows["rtt"][i])),
            ("lost", lambda i: _count(flows["lost"][i])),
            ("CNPs", lambda i: _count(flows["cnps"][i])),
            ("in flight", lambda i: _size(flows["inflight"][i])),
            ("window", lambda i: _size(flows["window"][i])),
        ]
        columns = columns[: max(1, (width - 22) // 13)]
        narrow = width < 34  # then only the name gives way
        table = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column(style="bold", no_wrap=True, overflow="ellipsis", min_width=0 if narrow else 10,
                         max_width=max(1, width - 13) if narrow else None)  # fmt: skip
        for _ in columns:
            table.add_column(justify="right", no_wrap=True, min_width=11)
        table.add_column(style="dim", no_wrap=True)
        table.add_row(self.scene["flows_by"], *(name for name, _ in columns), style="dim")
        chosen = interesting(self.goodput, room)
        edge, middle = parts(room)
        words = {0: "fastest", edge: "median", edge + middle: "slowest"} if len(chosen) < len(self.goodput) else {}
        words = {} if narrow else words
        for row, i in enumerate(chosen):
            table.add_row(self.scene["flows"][i]["name"], *(text(i) for _, text in columns), words.get(row, ""))
        return table


def interesting(goodput: list[float], room: int) -> list[int]:
    """Positions of the flows to show, fastest first: all, or the fastest, those around the median, and the slowest."""
    order = sorted(range(len(goodput)), key=lambda i: -goodput[i])
    if len(order) <= room:
        return order
    edge, middle = parts(room)
    first = (len(order) - middle) // 2
    return (
        order[:edge][:room] + order[first : first + max(0, middle)] + order[len(order) - edge :][: max(0, room - edge)]
    )


def parts(room: int) -> tuple[int, int]:
    """How many of the fastest, and of the slowest, and how many around the median make ``room``."""
    edge = (room + 1) // 3
    return edge, room - 2 * edge


def sparkline(values: deque[float], width: int) -> str:
    """The newest values, one character each, from 0 to the highest of them; a burst does not flatten all others."""
    shown = list(values)[-width:]
    usual = sorted(shown)[len(shown) // 2] if shown else 0.0
    top = min(max(shown, default=0.0), 4 * usual or math.inf) or 1.0
    return "".join(STEPS[min(7, int(8 * value / top))] for value in shown)


def meter(share: float, width: int) -> str:
    """A bar of this share of the width."""
    return "█" * round(max(0.0, min(1.0, share)) * width)


def final(scene: dict[str, Any], end: dict[str, Any]) -> RenderableType:
    """The verdict and the figures of a run that has ended; plain text where there is no terminal."""
    from rich.console import Group
    from rich.text import Text

    from testbed.results.table import of_plain

    lines: list[RenderableType] = []
    if scene:
        tuner = f" + {scene['tuner']}" if scene["tuner"] else ""
        lines.append(Prose(f"{scene['experiment']} · {scene['controller']}{tuner}", style="bold"))
    lines.append(Text.assemble("verdict: ", (end["verdict"], COLOURS.get(end["verdict"], ""))))
    lines.extend(Prose(reason, hanging=" - ") for reason in end["reasons"])
    notes = (Prose(note, style="dim") for note in end["notes"])
    return Group(*lines, Text(), Fitted(of_plain(end["figures"])), Text(), *notes)


def _lines(named: Mapping[str, Sequence[str]], width: int) -> list[RenderableType]:
    """What is said of each, behind its name, in columns as far as they fit."""
    from rich.text import Text

    widest = max(map(len, named), default=0)
    return [Text(line) for name, said in named.items() for line in packed((f"{name:{widest}}", *said), width)]


def _row(width: int) -> Table:
    """Two cells, at the left and the right end."""
    from rich.table import Table

    row = Table.grid(padding=(0, 1), expand=True)
    row.add_column(ratio=1, no_wrap=True)
    row.add_column(justify="right", no_wrap=True)
    row.width = width
    return row


def _clock(now: float, duration: float) -> str:
    unit, size = ("ms", 1e3) if duration < 1 else ("s", 1.0)
    return f"{now * size:.2f} of {duration * size:g} {unit}"


def _time(value: float | None) -> str:
    return UNKNOWN if value is None else show_time(rounded(value, 3))


def _size(value: float | None) -> str:
    return UNKNOWN if value is None else show_size(rounded(value, 3))


def _rate(value: float | None) -> str:
    return UNKNOWN if value is None else show_rate(rounded(value, 3))


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else "< 0.1 %" if 0 < value < 0.001 else f"{100 * value:.1f} %"


def _plain(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3f}"


def _count(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.0f}"
