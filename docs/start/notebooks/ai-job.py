"""A first training job: a notebook of docs/start/ai-job.md, which `make notebooks` writes.

`marimo edit ai-job.py`, in a folder of its own: it writes files and results there.
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
    # A first training job

    For people who run AI clusters. In ten minutes, without root: time a collective, see what it could be at best, let two jobs share a
    network, and compare ways to spread packets. You need the command `testbed` (install it). A test runs every line of
    this page.

    ## A ring
    """)
    return


@app.cell
def _(mo):
    editor_0 = mo.ui.code_editor(r'''rack: {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 4}
traffic:
  pattern: jobs
  placement: spread
  jobs:
    - {name: job, pattern: allreduce, ranks: 16, size: 4 MiB, iterations: 2}
controller: dcqcn
engine: virtual
time: {duration: 3 ms, warmup: 0}
''', language='yaml')
    editor_0
    return (editor_0,)


@app.cell
def _(Path, editor_0):
    step_0 = Path('ring.yaml').write_text(editor_0.value)
    return (step_0,)


@app.cell
def _(typed, step_0):
    step_1 = typed('testbed run ring.yaml --out ring', step_0)
    step_1
    return (step_1,)


@app.cell
def _(testbed, step_1):
    testbed.load('ring') if step_1 else None
    return


@app.cell
def _(mo):
    mo.md(r"""
    16 ranks on a leaf-spine network of 100 Gbit/s sum a buffer of 4 MiB. They are spread over the leaves, so each step of the ring crosses
    the spines. The last lines of the table are the job's:

    ```text
    job              1.97 ms iteration      1.97 ms p99                   1.066 x straggler
                    1.854 ms exposed          100 % of a rank's time 17.03 Gbit/s algorithm
                31.94 Gbit/s bus
    ```

    *Bus bandwidth* is the number that NCCL's tests print.

    ## How fast could it be?
    """)
    return


@app.cell
def _(typed, step_1):
    step_2 = typed('testbed show ring.yaml', step_1)
    step_2
    return (step_2,)


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    # critical path 1.822 ms if every message had the rack to itself: 0 ns of computing, 60 messages
    ```

    That is for both iterations, 0.91 ms each. The rest is what messages wait for each other: two flows that ECMP hashes to the same uplink halve each other's rate.

    ## Another algorithm
    """)
    return


@app.cell
def _(typed, step_2):
    step_3 = typed('testbed run ring.yaml --set traffic.jobs.0.algorithm=halving-doubling --out halving', step_2)
    step_3
    return (step_3,)


@app.cell
def _(testbed, step_3):
    testbed.load('halving') if step_3 else None
    return


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    job             1.262 ms iteration       1.3 ms p99                   1.129 x straggler
    ...
                49.85 Gbit/s bus
    ```

    Fewer steps, and messages that are larger: less time is lost in waiting.

    ## Another way through the network
    """)
    return


@app.cell
def _(typed, step_3):
    step_4 = typed('testbed run ring.yaml --set routing=spray --out spray', step_3)
    step_4
    return (step_4,)


@app.cell
def _(testbed, step_4):
    testbed.load('spray') if step_4 else None
    return


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    job             1.421 ms iteration     1.428 ms p99                   1.015 x straggler
    ...
                44.28 Gbit/s bus
    ```

    `spray` sends each packet over another spine: no uplink is shared by chance, and an iteration takes a quarter less time.

    ## Two jobs
    """)
    return


@app.cell
def _(mo):
    editor_5 = mo.ui.code_editor(r'''rack: {kind: leaf-spine, leaves: 4, spines: 2, hosts_per_leaf: 4}
traffic:
  pattern: jobs
  placement: spread
  jobs:
    - {name: big, pattern: training, ranks: 8, size: 16 MiB, forward: 0.2 ms, backward: 0.4 ms}
    - {name: small, pattern: allreduce, ranks: 8, size: 4 MiB, iterations: 4}
controller: dcqcn
engine: virtual
time: {duration: 20 ms}
''', language='yaml')
    editor_5
    return (editor_5,)


@app.cell
def _(Path, editor_5, step_0, step_1, step_2, step_3, step_4):
    step_5 = Path('two.yaml').write_text(editor_5.value)
    return (step_5,)


@app.cell
def _(typed, step_5):
    step_6 = typed('testbed run two.yaml --alone --out both', step_5)
    step_6
    return (step_6,)


@app.cell
def _(testbed, step_6):
    testbed.load('both') if step_6 else None
    return


@app.cell
def _(mo):
    mo.md(r"""
    `--alone` runs each job by itself first. The table tells how many times as long its iterations take beside the other one:

    ```text
    big             6.385 ms iteration     7.236 ms p99                    1.01 x straggler
                    5.759 ms exposed         90.6 % of a rank's time      1.154 x of alone
    small           1.744 ms iteration     1.902 ms p99                   1.055 x straggler
                    1.652 ms exposed          100 % of a rank's time 19.24 Gbit/s algorithm
                33.68 Gbit/s bus            1.309 x of alone
    ```

    ## Where to go

    * Your own job: traces of Chakra, GOAL and SimAI, and topologies of other simulators: files.
    * All collectives, placements, and what the figures mean: traffic, results.
    * Racks of AI clusters, with rails, three tiers and more: racks.
    * What we found: jobs.
    """)
    return


if __name__ == "__main__":
    app.run()
