"""A first switch: a notebook of docs/start/operator.md, which `make notebooks` writes.

`marimo edit operator.py`, in a folder of its own: it writes files and results there.
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
    # A first switch

    For network operators. In ten minutes, without root: put a SONiC switch's configuration into a rack, see what its queues do under
    RDMA and ordinary traffic, change a threshold, and pass a test plan. You need the command `testbed` (install it).
    A test runs every line of this page.

    ## A configuration

    Copy `/etc/sonic/config_db.json` of your switch into an empty folder. Without one at hand, take ours:
    """)
    return


@app.cell
def _(typed):
    step_0 = typed('testbed export switch sonic-switch --to sonic > config_db.json')
    step_0
    return (step_0,)


@app.cell
def _(mo):
    mo.md(r"""
    ## An experiment around it
    """)
    return


@app.cell
def _(mo):
    editor_1 = mo.ui.code_editor(r'''rack:
  kind: star
  hosts: 4
  link: {rate: 100 Gbit/s, delay: 600 ns}
  switch: {config: config_db.json}
  nic: {ack_dscp: 46, cnp_dscp: 48}
traffic:
  pattern: flows
  flows:
    - {src: h1, dst: h4, label: rdma}
    - {src: h2, dst: h4, label: rdma}
    - {src: h3, dst: h4, label: bulk}
packets:
  - {of: {labels: [rdma]}, dscp: 3}
  - {of: {labels: [bulk]}, dscp: 8, ecn: off}
controller: dcqcn
engine: virtual
time: {duration: 20 ms}
''', language='yaml')
    editor_1
    return (editor_1,)


@app.cell
def _(Path, editor_1, step_0):
    step_1 = Path('my-switch.yaml').write_text(editor_1.value)
    return (step_1,)


@app.cell
def _(mo):
    mo.md(r"""
    Three hosts send to a fourth: two in a lossless class, with DCQCN, one in a class that nobody marks.
    """)
    return


@app.cell
def _(typed, step_1):
    step_2 = typed('testbed show my-switch.yaml', step_1)
    step_2
    return (step_2,)


@app.cell
def _(mo):
    mo.md(r"""
    `show` says what it took of which tables, what it does not understand, and each value that holds:

    ```text
    ...
          tc3:
            dscp:
            - 3
            queue: 3
            group: 3
    ...
    ```

    ## What happens in it
    """)
    return


@app.cell
def _(typed, step_2):
    step_3 = typed('testbed run my-switch.yaml --out first', step_2)
    step_3
    return (step_3,)


@app.cell
def _(testbed, step_3):
    testbed.load('first') if step_3 else None
    return


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    verdict: clean
    ...
    loss in run        19.77 % of sent          0.09582 per delivered
    marks                   17 packets        0.01071 % at bottleneck
    pauses in run            0 frames               0 % of the time
    ...
    q0 tc0             58.14 % of the line     15.72 MB mean             16 MB peak
                        93,769 packets                0 marked          60,838 dropped
    q3 tc3             41.86 % of the line     69.12 kB mean          2.328 MB peak
    ```

    The lines at the end are the queues of the port to the fourth host: their share of the line, how deep they are, and what they marked
    and dropped. No pause frame was sent: ECN slows the RDMA senders before PFC has to. What was lost is all of queue 0, whose sender
    nobody slows.

    ## A threshold that is too high
    """)
    return


@app.cell
def _(typed, step_3):
    step_4 = typed("testbed run my-switch.yaml --set 'rack.switch.queues.3.red={kmin: 20 MB, kmax: 20 MB, pmax: 1}' --out second", step_3)
    step_4
    return (step_4,)


@app.cell
def _(testbed, step_4):
    testbed.load('second') if step_4 else None
    return


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    marks                    0 packets              0 % at bottleneck
    pauses in run        8,929 frames           48.57 % of the time
    ```

    Nothing is marked any more, and senders are held half of the time. The priority group pauses them
    long before the queue is that deep, so PFC does the work of ECN.

    ## A test plan

    `sonic-rocev2` is a plan by which operators accept a switch, in eleven cases. The fourth asks whether congestion control keeps a
    lossless class from pausing, which is what this page has just tried:
    """)
    return


@app.cell
def _(typed, step_4):
    step_5 = typed('testbed reproduce sonic-rocev2 --engine virtual --row 4 --column "100 Gbit/s" --out plan', step_4)
    step_5
    return (step_5,)


@app.cell
def _(mo):
    mo.md(r"""
    ```text
    100 Gbit/s, case 4, storage, DCQCN off: pass
      pass   lossless packets lost: 0 (0)
      pass   PFC frames: 5358 (at least 1)
    ...
    100 Gbit/s, case 4, storage, DCQCN on: pass
      pass   lossless packets lost: 0 (0)
      pass   PFC frames: 0 (at most 100)
    ...
    2 pass, 0 fail, 0 not run
    ```

    `plan/plan.html` is a page to show to a colleague. Without `--row` and `--column` all cases run at 100, 400 and 800 Gbit/s.

    ## Where to go

    * All that is read of SONiC, and how to write it back: model your switch.
    * More traffic: traffic. PFC over several switches: lossless.
    * Change thresholds while a run goes on: `testbed set`, command line.
    * Put the settings onto lab hosts and switches: the lab.
    """)
    return


if __name__ == "__main__":
    app.run()
