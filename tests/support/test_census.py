"""The census must see what it is there to see."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pyroute2 import IPRoute

from tests.support.census import Census
from tests.support.waiting import until

pytestmark = [pytest.mark.root, pytest.mark.parallel]


def seen(before: Census, what: str) -> bool:
    """Now. Who waits for a process asks again: in the middle of its exec it has no command and no mark to read."""
    return any(what in line for line in before.leftovers(wait=0))


def test_quiet_machine_shows_no_difference() -> None:
    assert Census.take().leftovers() == []  # others make links as well, and clear them away


def test_process_and_namespace_are_seen() -> None:
    before = Census.take()
    inside = ["sh", "-c", "echo up; exec sleep 60"]  # a busy kernel may take its time to make the namespace
    command = ["unshare", "--net", "--fork", "--kill-child", *inside]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as sleeper:
        try:
            assert sleeper.stdout
            assert sleeper.stdout.readline() == b"up\n"
            until(lambda: seen(before, "sleep 60") and seen(before, "namespaces: net:"))
        finally:
            sleeper.kill()


def test_process_without_its_parent_is_seen() -> None:
    before = Census.take()
    code = "import subprocess; print(subprocess.Popen(['sleep', '61'], stdout=-3, stderr=-3).pid)"
    orphan = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    try:
        until(lambda: seen(before, "sleep 61"))
    finally:
        subprocess.run(["kill", str(orphan)], check=True)


def test_link_is_seen() -> None:
    before = Census.take()
    with IPRoute() as ip:
        ip.link("add", ifname="census-test", kind="bridge")
        try:
            assert seen(before, "links: census-test")
        finally:
            ip.link("del", ifname="census-test")
