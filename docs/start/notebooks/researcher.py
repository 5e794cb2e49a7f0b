"""A first controller of your own: a notebook of docs/start/researcher.md, which `make notebooks` writes.

`marimo edit researcher.py`, in a folder of its own: it writes files and results there.
"""

import marimo

app = marimo.App()


@app.cell
def _():
    import shlex
    import shutil
    import subprocess
    import sys
    from pathlib import Path

    import marimo as mo

    import testbed

    def typed(line, *after):
        """What a command prints, after those that it comes after. Its results take the place of earlier ones."""
        command, _, file = line.partition(" > ")
        words = shlex.split(command)
        if "--out" in words:
            shutil.rmtree(words[words.index("--out") + 1], ignore_errors=True)
        done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
        if file:
            Path(file).write_text(done.stdout)
        return mo.plain_text(done.stderr if file else done.stdout + done.stderr)

    return Path, mo, testbed, typed


@app.cell
def _(mo):
    mo.md(r"""
    # A first controller of your own

    For researchers. In ten minutes, without root: run an incast, write a controller, compare it with published ones, change it, and see
    why it does what it does. You need the command `testbed` (install it). A test runs every line of this page.

    ## Run what is there
    """)
    return


@app.cell
def _(typed):
    step_0 = typed('testbed run incast-8 --engine virtual --duration "2 ms" --out first')
    step_0
    return (step_0,)


@app.cell
def _(testbed, step_0):
    testbed.load('first') if step_0 else None
    return


@app.cell
def _(mo):
    mo.md(r"""
    Eight hosts send to one over 100 Gbit/s. The sender's algorithm is DCQCN, the packets are RoCEv2 packets, and the NIC and the switch
    are the programs that the Linux kernel would run, on a simulated clock. The table says, among other things:

    ```text
    verdict: clean
    SU              100.00 %
    QL              24.51 us mean        36.52 us p99           36.79 us max
    RTT             32.09 us p50         45.02 us p99
    marks                 14 packets    0.08989 % at bottleneck
    ```

    `SU` is the utilisation of the bottleneck, `QL` how long its queue is. The line is full, and packets wait for four round trips of an
    idle network (8.18 us). `clean` is the verdict: nothing but the experiment shaped these figures. Open `first/report.html` for the
    curves.

    ## Write one
    """)
    return


@app.cell
def _(typed, step_0):
    step_1 = typed('testbed new controller my_cc', step_0)
    step_1
    return (step_1,)


@app.cell
def _(mo):
    mo.md(r"""
    `my_cc.py` works as it is. It is a class with a method per event. What the flow may do next stands in `self.window` (bytes) and
    `self.rate` (bit/s):

    ```python
    def on_ack(self, ack: Ack) -> None:
        if ack.rtt > self.config.target * self.path.base_rtt:
            self.cut(ack.now)
        else:
            growth = self.path.wire_size * ack.bytes / self.window
            self.window = min(self.window + growth, 2 * self.path.bdp)
    ```

    So the window grows by a packet per RTT, and falls by a fixed share when the RTT passes a target. Try it:
    """)
    return


@app.cell
def _(typed, step_1):
    step_2 = typed('testbed run incast-8 --engine virtual --controller ./my_cc.py --duration "2 ms" --out second', step_1)
    step_2
    return (step_2,)


@app.cell
def _(testbed, step_2):
    testbed.load('second') if step_2 else None
    return


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    SU               99.98 %
    FR               76.69 % per flow      76.69 % per host
    QL               2.58 us mean          4.81 us p99           5.00 us max
    ```

    A ninth of DCQCN's queue. `FR` is fairness: the slowest flow has 77 % of the fastest one's goodput.

    ## Change it

    A cut that is the same whether the RTT is a little or far too long makes the queue swing. Let it follow the excess, as Swift does.
    This is the whole new file:
    """)
    return


@app.cell
def _(mo):
    editor_3 = mo.ui.code_editor(r'''"""my_cc: a window that follows how far the RTT is above a target."""

from pydantic import Field

from testbed.controller import Ack, CompiledController, Path, Signal
from testbed.plugin import PluginConfig
from testbed.units import Ratio


class MyCcConfig(PluginConfig):
    """Options, which an experiment file may set."""

    target: Ratio = Field(default=1.5, gt=1, description="RTT that is put up with, in base RTTs.")
    cut: Ratio = Field(
        default=0.8, gt=0, lt=1, description="Share of the window that a very long RTT, or a loss, takes off."
    )


class MyCc(CompiledController):
    """One packet more per RTT; less, once per RTT, by how far it is above a target."""

    name = "my_cc"
    signals = Signal.RTT
    Config = MyCcConfig
    config: MyCcConfig
    next_cut: float  # s; state is declared: a float, int or bool per flow, which begins as 0

    def __init__(self, config: MyCcConfig, path: Path) -> None:
        super().__init__(config, path)
        self.window = path.bdp  # bytes; self.rate (bit/s) stays at the line rate

    def on_ack(self, ack: Ack) -> None:
        excess = 1 - self.config.target * self.path.base_rtt / ack.rtt
        if excess > 0:
            self.cut(ack.now, self.config.cut * excess)
        else:
            growth = self.path.wire_size * ack.bytes / self.window
            self.window = min(self.window + growth, 2 * self.path.bdp)

    def on_loss(self, now: float, packets: int) -> None:
        self.cut(now, self.config.cut)

    def cut(self, now: float, share: float) -> None:
        if now >= self.next_cut:
            self.window = max(self.window * (1 - share), self.path.wire_size)
            self.next_cut = now + self.config.target * self.path.base_rtt
''', language='python')
    editor_3
    return (editor_3,)


@app.cell
def _(Path, editor_3, step_0, step_1, step_2):
    step_3 = Path('my_cc.py').write_text(editor_3.value)
    return (step_3,)


@app.cell
def _(typed, step_3):
    step_4 = typed('testbed check ./my_cc.py', step_3)
    step_4
    return (step_4,)


@app.cell
def _(mo):
    mo.md(r"""
    `check` asks what any controller must do, and answers with numbers:

    ```text
    passed  machine code decides as Python does: the same feedback gave the same decisions, bit for bit (digest 6b66fa3908c1)
    ...
    passed  two flows share: two flows, the second 50 RTTs later: Jain's index is 0.990 in RTTs 250 to 300 (more than 0.95 is expected), at 13.8 and 11.2 Gbit/s
    ...
    passed  survives loss: 1 % of the packets and 1 % of the acknowledgements lost at random: the port carried 18.0 % of its rate; at least 1.0 % is expected
    ```

    The class is compiled: a decision takes some 12 ns of one core, and machine code and Python decide alike, bit for bit.

    ## Compare it
    """)
    return


@app.cell
def _(typed, step_4):
    step_5 = typed('testbed sweep incast-8 --engine virtual --controller ./my_cc.py,swift --set traffic.senders=2,8 --duration "2 ms"     --set record.report=off --out sweep', step_4)
    step_5
    return (step_5,)


@app.cell
def _(typed, step_5):
    step_6 = typed('testbed compare sweep --out comparison', step_5)
    step_6
    return (step_6,)


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    incast-8 · senders=8
    ...
    FR per flow, %                  86.40    98.34  +13.8 %
    ...
    QL mean, us                     4.358    6.117  +40.4 %
    ```

    Swift is fairer and its queue is longer. `comparison/comparison.html` has the curves on top of each other, `--repeat 3` gives
    intervals, and `--set my_cc.target=1.2,1.5,2` would sweep an option.

    ## See why
    """)
    return


@app.cell
def _(typed, step_6):
    step_7 = typed('testbed replay first', step_6)
    step_7
    return (step_7,)


@app.cell
def _(mo):
    mo.md(r"""
    Every decision of a run is on record, with what the controller was told. `replay` feeds it again: the same decisions, byte for byte.
    The report shows both, flow by flow. To step through your `on_ack` with `print` or `pdb`, see
    debugging.

    ```text
    agent 0: 31044 calls, 31044 rows compared: identical
    ```

    ## Where to go

    * With real packets: the same line as root without `--engine virtual`.
    * What a controller sees and sets, and in which form to write it: controllers. In C: C. Learned: your
      own learned controller.
    * Other traffic and racks: `testbed list`, traffic, racks.
    * From a notebook: Python. Published tables: reproduce.
    """)
    return


if __name__ == "__main__":
    app.run()
