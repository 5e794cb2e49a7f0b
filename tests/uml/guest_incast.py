"""Runs inside the guest, for `test_incast.py`: several experiments in one boot and one process.

One process, because most of a short run is Python's start-up here.
"""

from __future__ import annotations

import gc
import json
import shutil
import sys
import time
from pathlib import Path

from testbed.cli import main as cli
from testbed.engines.kernel.assembly import Assembly
from testbed.engines.kernel.choices import use_netem
from testbed.engines.kernel.faults.fault import Fault
from testbed.engines.kernel.follow import follow
from testbed.experiment.load import load, resolve
from testbed.fidelity.verdict import judge
from testbed.live.observers import Observer

ATTEMPTS = 2  # each twice as long as the one before
BUSY, CLOCKS = "CPU overload", "clock step"
REFERENCES = Path("/sys/module/openvswitch/refcnt")


class NetemLoss(Fault):
    """netem at h1's interface loses a fifth of what h1 sends: no model's decision, and no program of ours sees it.

    From the first packet on: in a slow guest the next sample may come when few packets are left to be lost.
    """

    def on_built(self, rack: Assembly) -> None:
        intf = rack.net["h1"].defaultIntf()
        if rack.use_netem:
            delay = round(1e6 * intf.link.spec.netem)
            intf.node.netlink.tc("change", "netem", intf.index, handle="2:", parent="1:1", delay=delay, loss=20)
        else:
            intf.node.netlink.tc("replace", "netem", intf.index, handle="9:", loss=20)


def datapaths_left() -> int:
    """References to Open vSwitch when the kernel has had a second to take dead sandboxes apart."""
    deadline = time.monotonic() + 1
    while (left := int(REFERENCES.read_text())) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def run(experiment: str, settings: list[str], dilation: float, out: Path) -> int:
    """`testbed run`, again and slower if a busy host made calibration refuse the rack or made anything late."""
    options = [*(part for one in settings for part in ("--set", one)), "--metrics-addr", "none", "--format", "json"]
    code = 1
    for attempt in range(ATTEMPTS):
        made = out.with_name(f"{out.name} {attempt}")
        slower = ("--dilation", f"{dilation * 2**attempt:g}")
        sys.argv = ["testbed", "run", experiment, *options, *slower, "--out", str(made)]
        try:
            code = cli.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        if made.exists():
            shutil.rmtree(out, ignore_errors=True)
            made.rename(out)
        if code != 1 and not late(out):
            break
    return 3 if code == 1 and out.exists() else code


def late(out: Path) -> bool:
    """Whether a verdict speaks of more than what this kernel always is: busy, with clocks that go apart."""
    verdict = json.loads((out / "summary.json").read_text())["verdict"]
    return not {reason["what"] for reason in verdict["reasons"]} <= {BUSY, CLOCKS}


def main(shared: Path) -> int:
    gc.freeze()  # a fork copies what the collector looks at, and this kernel is slow to
    gc.disable()
    job = json.loads((shared / "job.json").read_text())
    codes = set()
    for name, (experiment, settings, dilation) in job["runs"].items():
        began = time.monotonic()
        code = run(experiment, settings, dilation, shared / name)
        print(f"{name}: exit code {code}, {time.monotonic() - began:.1f} s", file=sys.stderr)
        codes.add(code)
    for name, (experiment, settings) in job["lossy"].items():
        began = time.monotonic()
        resolved = resolve(load(experiment).apply(settings))
        record = follow(resolved, use_netem(resolved), Observer(), NetemLoss())
        (shared / name).write_text(str(judge(record)))
        print(f"{name}: {time.monotonic() - began:.1f} s", file=sys.stderr)
    (shared / "datapaths").write_text(str(datapaths_left()))
    return int(not codes <= {0, 3})  # on a busy machine a run may be degraded


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
