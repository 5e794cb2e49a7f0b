"""Process 1 of a node: its card's file system, its units, its sshd. It ends when the plug is pulled."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from testbed.base import linux
from tests.emulated_lab import machine, mounts, rootfs
from tests.emulated_lab.fakes import entry, server, warm_python
from tests.emulated_lab.spec import STOCK, NodeSpec
from tests.emulated_lab.store import Store
from tests.emulated_lab.systemd.manager import WANTED, Manager
from tests.emulated_lab.systemd.udev import Event, found
from tests.support.checkout import ROOT
from tests.support.waiting import PATIENCE

NEW, POWER_ON, REBOOT = "new", "power on", "reboot"
SSHD_CONFIG = """\
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
MaxStartups 100
AcceptEnv LANG LC_*
SetEnv PYTHONPATH={python} LAB_PYCACHE={pycache}
Subsystem sftp internal-sftp
"""
SSHD_UNIT = """\
[Unit]
Description=OpenBSD Secure Shell server
[Service]
ExecStart=/usr/sbin/sshd -D -e
KillMode=process
RuntimeDirectory=sshd
RuntimeDirectoryPreserve=yes
[Install]
WantedBy=multi-user.target
"""
LLDPAD_UNIT = """\
[Unit]
Description=Link Layer Discovery Protocol Agent Daemon
[Service]
ExecStart=/usr/bin/sleep infinity
"""
STOCK_UNIT = """\
[Unit]
Description=NVIDIA's sample of a congestion control program
[Service]
ExecStart=/usr/bin/stdbuf -oL /usr/bin/doca_pcc -d mlx5_0
StandardOutput=truncate:/run/stock-pcc.log
KillSignal=SIGINT
KillMode=mixed
SendSIGKILL=no
[Install]
WantedBy=multi-user.target
"""
PYTHON = Path(__file__).parent / "python"  # what compiles less
UNITS = Path("/etc/systemd/system")
TESTBED = Path("/usr/local/bin/testbed")
FILE_SYSTEM = Path("/run/lab-cardfs")
TREES = {
    "devices": "/sys/devices/pci0000:00",
    "debug": "/sys/kernel/debug",
    "config": "/sys/kernel/config",
    "net": "/sys/class/net",
}


def main(spec: NodeSpec, how: str, client: bytes, ready: Callable[[], None]) -> None:
    """Runs until the kernel ends it. ``how``: NEW, POWER_ON or REBOOT; ``client``: see `fakes.server`."""
    store = Store()
    if how == NEW:
        _install(spec, store, client)
    else:
        store.write(machine.boot(store.read(), power=how == POWER_ON))
    server.start(entry.of(spec))
    if not spec.is_switch:
        _show_card(spec, store)
    with asyncio.Runner() as runner:
        runner.run(_run(found(store.read(), "add"), ready))


def _install(spec: NodeSpec, store: Store, client: bytes) -> None:
    store.write(machine.new(spec))
    store.calls.touch()
    store.calls.chmod(0o666)  # the exporter calls ethtool, and is not root
    entry.install(entry.of(spec), ROOT, client)
    warm_python.PROGRAM.write_bytes(client)
    warm_python.PROGRAM.chmod(0o755)
    (entry.SCRIPTS / warm_python.NAME).write_text(warm_python.FALLBACK)
    (entry.SCRIPTS / warm_python.NAME).chmod(0o755)
    if spec.kind == "testbed":
        TESTBED.unlink(missing_ok=True)
        TESTBED.symlink_to(Path(sys.prefix) / "bin/testbed")
    Path("/etc/ssh/sshd_config").write_text(SSHD_CONFIG.format(python=PYTHON, pycache=rootfs.PYCACHE))
    (UNITS / "ssh.service").write_text(SSHD_UNIT)
    (UNITS / "lldpad.service").write_text(LLDPAD_UNIT)
    WANTED.mkdir()
    (WANTED / "ssh.service").symlink_to("../ssh.service")
    if spec.stock:
        (UNITS / STOCK).write_text(STOCK_UNIT)
        (WANTED / STOCK).symlink_to(f"../{STOCK}")


def _warm_python(listening: socket.socket) -> None:
    """For whoever asks there first, as a unit of a socket: most nodes of most labs run no module."""
    ansible = find_spec("ansible")
    assert ansible is not None
    assert ansible.origin is not None
    asked = listening.fileno()
    asyncio.get_running_loop().remove_reader(asked)
    given = (ROOT, Path(ansible.origin).parent, str(os.getpid()), str(asked))
    subprocess.Popen(
        ["/usr/bin/python3", "-P", warm_python.__file__, *given], pass_fds=[asked],
        env={"PATH": os.defpath, "PYTHONPATH": str(PYTHON), "LAB_PYCACHE": str(rootfs.PYCACHE)},
    )  # fmt: skip
    listening.close()


def _show_card(spec: NodeSpec, store: Store) -> None:
    """Mount the card's trees, and link to them from where the kernel has its links."""
    from tests.emulated_lab import cardfs  # needs libfuse, which the commands' own tests do not

    FILE_SYSTEM.mkdir()
    this = os.getpid()
    if os.fork() == 0:
        linux.die_with_parent(this)
        mounts.set_process_name("cardfs")
        cardfs.serve(str(FILE_SYSTEM), store)
        os._exit(0)
    deadline = time.monotonic() + PATIENCE
    while not FILE_SYSTEM.is_mount():
        if time.monotonic() > deadline:
            sys.exit(f"{spec.name}: the card's file system did not come up")
        time.sleep(0.005)
    for part, place in TREES.items():
        mounts.bind(FILE_SYSTEM / part, place)
    function = f"devices/pci0000:00/{spec.pci}"
    bus = Path("/sys/bus/pci/devices")
    bus.mkdir()
    (bus / spec.pci).symlink_to(f"../../../{function}")
    device = Store().read()["device"]
    (Path("/sys/class/infiniband") / device).symlink_to(f"../../{function}/infiniband/{device}")


async def _run(devices: list[Event], ready: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    listening = server.listen(server.FOLDER / "python")
    loop.add_reader(listening, _warm_python, listening)
    manager = Manager(loop)
    await manager.serve()
    manager.boot(devices)
    while not _listens(22):
        await asyncio.sleep(0.01)
    ready()
    await asyncio.Event().wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
