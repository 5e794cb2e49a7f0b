"""`make lab`: an emulated lab to work in by hand, until Ctrl-C."""

from __future__ import annotations

import argparse
import signal
import sys

from testbed.errors import TestbedError
from tests.emulated_lab.lab import Lab
from tests.emulated_lab.spec import CARDS, SWITCHES


def main() -> int:
    parser = argparse.ArgumentParser(prog="make lab", description=__doc__)
    parser.add_argument("--cards", default=",".join(CARDS), help=f"one host each, of {', '.join(CARDS)}")
    parser.add_argument("--switches", default="sonic", help=f"of {', '.join(SWITCHES)}")
    options = parser.parse_args()
    try:
        lab = Lab(options.cards.split(","), options.switches.split(","))
        with lab:
            _explain(lab)
            signal.pause()
    except (TestbedError, ValueError, PermissionError) as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nlab: gone, with everything that was in it", file=sys.stderr)
    return 0


def _explain(lab: Lab) -> None:
    inside = f"sudo nsenter --target {lab.pid} --net --mount --pid --uts --ipc"
    print(f"{'name':<10}{'card':<8}{'address':<14}{'interface':<14}{'RoCE address':<14}{'phase'}")
    for node in [*lab.hosts, *lab.switches]:
        phase = node.spec.phase or "-"
        roce = node.roce_address if node.interface else "-"
        print(f"{node.name:<10}{node.card:<8}{node.address:<14}{node.interface or '-':<14}{roce:<14}{phase}")
    print(f"\ninventory   {lab.inventory}")
    print(f"log in      {inside} ssh -F {lab.ssh_config} lab1")
    print(f"a playbook  {inside} --wd=$PWD/ansible env ANSIBLE_SSH_ARGS='-F {lab.ssh_config}' \\")
    print(f"                $PWD/.venv/bin/ansible-playbook -i {lab.inventory} site.yml")
    print("\nCtrl-C ends it; nothing is left.", flush=True)


if __name__ == "__main__":
    sys.exit(main())
