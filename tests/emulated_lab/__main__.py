"""`make lab`: an emulated lab to work in by hand, until Ctrl-C."""

from __future__ import annotations

import argparse
import signal
import sys
from types import FrameType

from testbed.errors import TestbedError
from tests.emulated_lab.cards import CARDS as KNOWN
from tests.emulated_lab.lab import Lab
from tests.emulated_lab.spec import CARDS, DEFAULT, SWITCHES, HostSpec

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make lab", description=__doc__)
    parser.add_argument("--cards", default=",".join(DEFAULT), help=f"one host each, of {', '.join(CARDS)}")
    parser.add_argument("--switches", default="sonic", help=f"of {', '.join(SWITCHES)}")
    options = parser.parse_args()
    for number in ENDS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _end)
    try:
        lab = Lab([_host(card) for card in options.cards.split(",")], options.switches.split(","))
        with lab:
            _explain(lab)
            signal.pause()
    except (TestbedError, ValueError, PermissionError) as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nlab: gone, with everything that was in it", file=sys.stderr)
    return 0


def _end(_number: int, _frame: FrameType | None) -> None:
    """Once: the same signal often comes twice, by way of make and of sudo, and must not interrupt the tidying up."""
    for number in ENDS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _host(card: str) -> HostSpec:
    """A programmable card has a program, without which it may react to nothing and no rollout would touch it."""
    return HostSpec(card, stock=card in KNOWN and KNOWN[card].pcc)


def _explain(lab: Lab) -> None:
    inside = f"sudo nsenter --target {lab.pid} --net --mount --pid --uts --ipc"
    ssh = f"env ANSIBLE_SSH_ARGS='{lab.ssh_arguments}'"
    print(f"{'name':<10}{'card':<8}{'address':<14}{'interface':<14}{'RoCE address':<14}{'phase'}")
    for node in [*lab.hosts, *lab.switches]:
        phase = node.spec.phase or "-"
        roce = node.roce_address if node.interface else "-"
        print(f"{node.name:<10}{node.card:<8}{node.address:<14}{node.interface or '-':<14}{roce:<14}{phase}")
    print(f"\ninventory   {lab.inventory}")
    print(f"log in      {inside} ssh -F {lab.ssh_config} lab1")
    print('variables   .venv/bin/testbed lab vars incast-8 --line-rate "200 Gbit/s" > experiment.json')
    print(f"a playbook  {inside} --wd=$PWD/ansible {ssh} \\")
    print(f"                $PWD/.venv/bin/ansible-playbook -i {lab.inventory} site.yml --check --diff \\")
    print("                -e @../experiment.json")
    print(f"a run       {inside} --wd=$PWD {ssh} \\")
    print(f'                $PWD/.venv/bin/testbed run incast-4 --inventory {lab.inventory} --duration "2 s"')
    print("\nCtrl-C ends it; nothing is left.", flush=True)


if __name__ == "__main__":
    sys.exit(main())
