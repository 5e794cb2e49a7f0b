"""Flows from a file."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from testbed.experiment.load import load
from testbed.experiment.traffic.flow import Flow
from testbed.experiment.traffic.tracefile import read


def test_trace_file_is_found_beside_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("src,dst,bytes,start,label\nh1, h3, 1000, 0, a\nh2,h3,,1e-3,\n")
    file = tmp_path / "mine.yaml"
    file.write_text("traffic: {pattern: trace, file: flows.csv}\ncontroller: dcqcn\n")
    loaded = load(str(file)).experiment
    assert loaded.traffic.expand(loaded.context) == [
        Flow("h1", "h3", 1000.0, 0.0, "a"),
        Flow("h2", "h3", math.inf, 1e-3),
    ]
    assert loaded.hosts == 3


def test_a_trace_of_a_spreadsheet(tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text("src,dst,bytes,start\nh1,h3,1000,0\n", encoding="utf-8-sig")
    assert read(file)[0] == [Flow("h1", "h3", 1000.0, 0.0)]


def test_a_quote_too_many_in_a_trace(tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text('src,dst,bytes,start,label\nh1,h3,1000,0,a\nh1,h3,1000,0,"b"b\n')
    with pytest.raises(ValueError, match=r"flows\.csv, from line 3 on: ',' expected .*; is there a stray quote\?"):
        read(file)
    file.write_text('src,dst,"bytes,start\n')
    with pytest.raises(ValueError, match=r"flows\.csv, from line 1 on: unexpected end of data"):
        read(file)
