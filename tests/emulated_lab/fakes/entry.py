"""How every fake command starts: called by the name of a program that a host has in its path."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from tests.emulated_lab import faults
from tests.emulated_lab.spec import NodeSpec
from tests.emulated_lab.store import Store

# What a distribution has: iproute2, ethtool, perftest, mstflint.
HOST = {
    "mstconfig": "mlxconfig", "mstreg": "mlxreg", "dcb": "dcb", "devlink": "devlink", "ethtool": "ethtool",
    "ib_write_bw": "ib_write_bw", "meson": "meson", "ninja": "ninja",
}  # fmt: skip
OFED = {  # what comes with NVIDIA's packages: mlnx-tools, MFT, DOCA
    "mlnx_qos": "mlnx_qos", "cma_roce_tos": "cma_roce_tos", "mlxconfig": "mlxconfig", "mlxreg": "mlxreg",
    "doca_pcc": "doca_pcc",
}  # fmt: skip
SWITCHES = {
    "sonic": {"ecnconfig": "ecnconfig", "sonic-cfggen": "sonic_cfggen", "config": "sonic_config"},
    "nvue": {"nv": "nv"},
    "testbed": {},  # is real
}
SYSTEM = {"systemctl": "systemctl", "systemd-run": "systemd_run", "journalctl": "journalctl"}
# Nothing may ever reset or switch off a machine of a lab by itself: that somebody tried is in calls.jsonl.
FORBIDDEN = dict.fromkeys(
    ("mlxfwreset", "mstfwreset", "reboot", "shutdown", "poweroff", "halt", "ipmitool"), "forbidden"
)
FOLDER = {"systemctl": "/usr/bin", "systemd-run": "/usr/bin", "journalctl": "/usr/bin"}
SCRIPT = """\
#!/usr/bin/python3 -ISXpycache_prefix=/run/lab/pycache
import sys
sys.path.insert(0, {checkout!r})
from tests.emulated_lab.fakes.entry import run
sys.exit(run({name!r}, {module!r}))
"""


# Those that a server runs (server.py, client.c); the others run long, or are hardly ever called.
SHORT = (
    "cma_roce_tos", "dcb", "devlink", "ecnconfig", "ethtool", "journalctl", "mlnx_qos", "mlxconfig", "mlxreg", "nv",
    "sonic_cfggen", "systemctl", "systemd_run",
)  # fmt: skip
SCRIPTS = Path("/usr/lib/lab-fakes")  # as client.c has it


def of(spec: NodeSpec) -> dict[str, str]:
    """All programs of a node, by name: their modules."""
    host = HOST | (OFED if spec.driver == "ofed" else {})
    return (SWITCHES[spec.kind] if spec.is_switch else host) | SYSTEM | FORBIDDEN


def install(names: dict[str, str], checkout: Path, client: bytes) -> None:
    """Write the programs into this host's /usr/bin, over the machine's own and over whatever hides it.

    ``client``: the program that stands for the short ones.
    """
    SCRIPTS.mkdir()
    for name, module in names.items():
        for folder in ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/sbin", "/bin"):
            if (found := Path(folder) / name).exists() and not Path(folder).is_symlink():
                found.unlink()
        program = Path("/usr/bin") / name
        program.unlink(missing_ok=True)
        script = program
        if module in SHORT:
            program.write_bytes(client)
            program.chmod(0o755)
            script = SCRIPTS / name
        script.write_text(SCRIPT.format(checkout=str(checkout), name=name, module=module))
        script.chmod(0o755)


def run(name: str, module: str) -> int:
    """The command, unless a test broke it. Returns the exit code."""
    store = Store()
    arguments = sys.argv[1:]
    store.log("command", [name, *arguments])
    broken = store.read()["faults"]["commands"].get(name)
    if broken is not None:
        print(broken["text"], file=sys.stderr)
        return int(broken["code"])
    code: int = importlib.import_module(f"tests.emulated_lab.fakes.{module}").main(arguments, store)
    faults.spring(store, f"command {name}")
    return code
