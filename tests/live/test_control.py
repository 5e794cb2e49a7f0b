"""Edits on their way from whoever asks to the run and back."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from testbed.errors import BadInput, TestbedError
from testbed.live import control as control_module
from testbed.live.control import Control
from testbed.live.edit import Edit, Edited
from testbed.live.reached import ReachedRun, address_of
from tests.live.made import scene


class Run:
    """Answers what it is asked."""

    def __init__(self, control: Control, problem: str = "") -> None:
        self.control, self.problem = control, problem
        self.asked: list[Edit] = []

    def ask_to_edit(self, edit: Edit) -> None:
        self.asked.append(edit)
        self.control.on_edited(Edited(edit.number, 1e-3, "set kmin=1 kB", self.problem))


@contextmanager
def going_on(name: str, problem: str = "") -> Iterator[tuple[Run, ReachedRun]]:
    control = Control()
    run = Run(control, problem)
    control.on_editable(run)
    control.on_begin(replace(scene(), run=name))
    try:
        yield run, ReachedRun(name, os.getpid())
    finally:
        control.on_stop()


def test_a_run_is_found_and_edited_while_it_goes_on() -> None:
    with going_on("made run") as (run, reached):
        assert reached in ReachedRun.all()
        assert reached.edit({"kmin": "1 kB", "q3.weight": 2}) == {"at": 1e-3, "what": "set kmin=1 kB"}
        assert reached.edit({"kmin": 0})["at"] == 1e-3
        assert [edit.settings for edit in run.asked] == [{"kmin": "1 kB", "q3.weight": 2}, {"kmin": 0}]
    assert reached not in ReachedRun.all()
    with pytest.raises(TestbedError, match="the run 'made run' has ended"):
        reached.edit({"kmin": 0})


def test_what_cannot_be_is_told() -> None:
    with (
        going_on("made", "'x' cannot change") as (_, reached),
        pytest.raises(BadInput, match="'made': 'x' cannot change"),
    ):
        reached.edit({"x": 0})


def test_before_it_begins_nothing_can_be_edited() -> None:
    control = Control()
    control.on_editable(Run(control))
    with pytest.raises(BadInput, match="no run that could be edited goes on here"):
        control.edit({"kmin": 0})


@pytest.mark.parametrize(
    "asked",
    [
        b"\n",
        b"{}\n",
        b"[]\n",
        b'{"set": [1]}\n',
        b'{"set": {"kmin": [1]}}\n',
        b'{"set": {"kmin": NaN}}\n',
        b"kmin\n",
        b"\xff\n",
        b"",
    ],
)
def test_rubbish_ends_nothing(asked: bytes) -> None:
    with going_on("rubbish") as (run, reached):
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.connect(address_of("rubbish", os.getpid()))
            client.sendall(asked)
            client.shutdown(socket.SHUT_WR)
            assert json.loads(client.recv(1000)) == {"problem": "it is of another version of testbed"}
        assert run.asked == []
        assert reached.edit({"kmin": 0})["at"] == 1e-3


def test_a_long_name_has_its_place() -> None:
    with going_on("long " * 40) as (_, _):
        (found,) = [one for one in ReachedRun.all() if one.process == os.getpid()]
        assert found.edit({"kmin": 0})["at"] == 1e-3


def test_a_stranger_is_not_heard_and_a_strangers_socket_is_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.geteuid()
    with going_on("mine") as (run, reached):
        monkeypatch.setattr(os, "geteuid", lambda: own + 1)  # now this process is somebody else's, on both sides
        monkeypatch.setattr(control_module, "user_of", lambda _: own + 2)
        with pytest.raises(BadInput, match="the run 'mine' is another user's") if own else pytest.raises(BadInput):
            reached.edit({"kmin": 0})
        assert run.asked == []
