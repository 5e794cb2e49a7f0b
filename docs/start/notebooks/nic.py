"""From a Python idea to NIC code in an afternoon: a notebook of docs/start/nic.md, which `make notebooks` writes.

`marimo edit nic.py`, in a folder of its own: it writes files and results there.
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
    # From a Python idea to NIC code in an afternoon

    For NIC engineers, and for researchers who want to hand over more than a paper. A controller in Python becomes C99 for a simulator or
    a driver, and a program for NVIDIA's cards; each step is checked against the one before. You need the command `testbed`
    (install it), gcc or clang, and no card. A test runs every line of this page. What no step shows is a card's own
    behaviour: nothing here has run on one.

    ## The idea, in Python
    """)
    return


@app.cell
def _(typed):
    step_0 = typed('testbed new controller my_cc')
    step_0
    return (step_0,)


@app.cell
def _(typed, step_0):
    step_1 = typed('testbed check ./my_cc.py', step_0)
    step_1
    return (step_1,)


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    passed  machine code decides as Python does: the same feedback gave the same decisions, bit for bit (digest db45f75a6cdf)
    passed  fills the line: one flow used 100.0 % of the line in RTTs 100 to 150; at least 90 % is expected
    ```

    `my_cc.py` grows a window by a packet per RTT, and cuts it where the RTT passes a target. Change it until it does what you want
    (a first controller), and keep what it does:
    """)
    return


@app.cell
def _(typed, step_1):
    step_2 = typed('testbed run incast-8 --engine virtual --controller ./my_cc.py --duration "2 ms" --out in-python', step_1)
    step_2
    return (step_2,)


@app.cell
def _(testbed, step_2):
    testbed.load('in-python') if step_2 else None
    return


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    SU               99.98 %
    QL               2.58 us mean          4.81 us p99           5.00 us max
    ```

    ## The same in C99
    """)
    return


@app.cell
def _(typed, step_2):
    step_3 = typed('testbed export ./my_cc.py --to c --out my-cc-c', step_2)
    step_3
    return (step_3,)


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    compared: 100,000 made-up events, extremes among them: decisions equal to the bit
    extremes: 1,000,000 events with extremes in every field: no bad address, no overflow, no undefined behaviour
    state: 96 bytes per flow, path included
    ```

    `my_cc.c` has the names and comments of your Python, doubles, no allocation and no library but libm; a struct of options, and a
    function per event. In a driver or a simulator of your own it needs `testbed_cc.h` alone. Brought in again, it makes the same run:
    """)
    return


@app.cell
def _(typed, step_3):
    step_4 = typed('testbed run incast-8 --engine virtual --controller ./my-cc-c/my_cc.c --duration "2 ms" --out in-c', step_3)
    step_4
    return (step_4,)


@app.cell
def _(testbed, step_4):
    testbed.load('in-c') if step_4 else None
    return


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    SU               99.98 %
    QL               2.58 us mean          4.81 us p99           5.00 us max
    ```

    `testbed check ./my-cc-c/my_cc.c` counts its instructions per event, and `--isolate` gives C that you change a process of its own.

    ## The same for a card

    A card has no floating point and no division, 12 words of memory per flow, rates and no windows, and hears RTTs from probes, once per
    round trip. It knows neither line rate nor base RTT; for the rack those are 100 Gbit/s and 8.185 us.
    """)
    return


@app.cell
def _(typed, step_4):
    step_5 = typed("testbed export ./my_cc.py --to doca-pcc --set base_rtt='8.185 us' --out my-cc-pcc", step_4)
    step_5
    return (step_5,)


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    checked: 10,000 of 10,000 decisions leave rate (beyond a unit of 1/2^20) and state within 1.1e-07 of my_cc's; 0 fall to the other side of a condition
    state: 2 of 8 words of a flow's own
    ```

    `my-cc-pcc/device/my_cc.c` is your Python once more, with the functions of `real.c` for its numbers; options are the card's parameters.
    What else is in the folder, and what each part of Python became, is in Export. The program runs
    in the rack as it is:
    """)
    return


@app.cell
def _(typed, step_5):
    step_6 = typed('testbed run incast-8 --engine virtual --controller ./my-cc-pcc --duration "2 ms" --out on-card', step_5)
    step_6
    return (step_6,)


@app.cell
def _(testbed, step_6):
    testbed.load('on-card') if step_6 else None
    return


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    SU               94.20 %
    QL               3.93 us mean         17.36 us p99           63.00 us max
    ```

    That is what your idea loses on a card: the arithmetic is the same to a ten-millionth, but it decides once per round trip, and nothing
    bounds what is in flight. Now is the time to change the idea, in Python.
    """)
    return


@app.cell
def _(typed, step_6):
    step_7 = typed('testbed compare in-python on-card', step_6)
    step_7
    return (step_7,)


@app.cell
def _(mo):
    mo.md(r"""
    ## On the card

    `my-cc-pcc/README.md` says how to build it with the DOCA SDK, and what to measure first; a rollout puts it
    onto hosts, one after the other, and takes it back.
    """)
    return


if __name__ == "__main__":
    app.run()
