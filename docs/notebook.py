"""From a new controller to a figure for a paper, in ten cells.

`marimo edit docs/notebook.py` opens it, `python docs/notebook.py` runs it as a script.
"""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    import testbed
    from testbed.controller import Ack, CompiledController, Path, Signal
    from testbed.plugin import PluginConfig

    return Ack, CompiledController, Path, PluginConfig, Signal, mo, testbed


@app.cell
def _(mo):
    mo.md(
        """
        # A new controller

        Per RTT it raises a flow's rate by 1 % of the line rate. A marked packet cuts it by a fifth, once per RTT.
        """
    )


@app.cell
def _(Ack, CompiledController, Path, PluginConfig, Signal):
    class Mine(CompiledController):
        signals = Signal.CE | Signal.RTT
        next_cut: float  # s

        def __init__(self, config: PluginConfig, path: Path) -> None:
            super().__init__(config, path)
            self.window = 2 * path.bdp  # bytes; self.rate (bit/s) starts at the line rate

        def on_ack(self, ack: Ack) -> None:
            if not ack.ce_packets:
                share = ack.bytes / self.path.bdp  # of what one RTT acknowledges at line rate
                self.rate = min(self.rate + 0.01 * share * self.path.line_rate, self.path.line_rate)
            elif ack.now >= self.next_cut:
                self.rate = max(0.8 * self.rate, 1e6)
                self.next_cut = ack.now + ack.rtt

    return (Mine,)


@app.cell
def _(mo):
    mo.md("One run: eight hosts send to one, in virtual time. It shows its table, and the queue at the bottleneck.")


@app.cell
def _(Mine, testbed):
    short = {"time.warmup": "1 ms", "record.report": False}
    run = testbed.run("incast-8", controller=Mine, engine="virtual", duration="4 ms", settings=short)
    run
    return run, short


@app.cell
def _(run):
    flows = run.series.flows.to_pandas()  # a row per sample and flow; docs/reference/results.md has the columns
    flows.groupby("flow", observed=True)[["rate", "rtt"]].describe(percentiles=[0.5, 0.99])
    return (flows,)


@app.cell
def _(Mine, short, testbed):
    sweep = testbed.sweep(
        "incast-8",
        controller=[Mine, "dcqcn", "hpcc"],
        engine="virtual",
        duration="4 ms",
        settings=short,
    )
    return (sweep,)


@app.cell
def _(sweep, testbed):
    testbed.compare(sweep, baseline="dcqcn")


@app.cell
def _(sweep):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(3.4, 2.2), layout="constrained")  # one column of a paper
    for one in sweep.runs:
        ports = one.series.ports.to_pandas()
        bottleneck = ports[ports["port"] == one.summary.bottleneck]
        axes.plot(1e3 * bottleneck["time"], bottleneck["queue"] / 1e3, label=one.summary.controller, linewidth=0.8)
    axes.set(xlabel="time, ms", ylabel="queue, kB")
    axes.legend(frameon=False)
    figure
    return (figure,)


@app.cell
def _(figure, run):
    figure.savefig("queues.pdf")
    run.figure("throughput").savefig("throughput.pdf")  # those of the report are there as well: run.figures
    run.report()  # one file that holds the data, too: `testbed rerun report.html` repeats the run, wherever it is


if __name__ == "__main__":
    app.run()
