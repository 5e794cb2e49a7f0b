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
    plan = loaded.plan
    assert (plan.src, plan.dst, plan.label) == (["h1", "h2"], ["h3", "h3"], ["a", ""])
    assert (plan.size.tolist(), plan.start.tolist()) == ([1000.0, math.inf], [0.0, 1e-3])
    assert loaded.hosts == 3


def test_a_trace_of_a_spreadsheet(tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text("src,dst,bytes,start\nh1,h3,1000,0\n", encoding="utf-8-sig")
    assert read(file) == [Flow("h1", "h3", 1000.0, 0.0)]


def test_a_quote_too_many_in_a_trace(tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text('src,dst,bytes,start,label\nh1,h3,1000,0,a\nh1,h3,1000,0,"b"b\n')
    with pytest.raises(ValueError, match=r"flows\.csv, from line 3 on: ',' expected .*; is there a stray quote\?"):
        read(file)
    file.write_text('src,dst,"bytes,start\n')
    with pytest.raises(ValueError, match=r"flows\.csv, from line 1 on: unexpected end of data"):
        read(file)


@pytest.mark.parametrize(("text", "got"), [("", "nothing"), ("MICRO\n1\n", "MICRO")])
def test_what_is_no_trace_of_any_tool(text: str, got: str, tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text(text)
    says = rf"line 1: expected the columns src,dst,bytes,start .* docs/howto/files\.md has them, got {got}"
    with pytest.raises(ValueError, match=says):
        read(file)


def test_units_stand_in_the_first_line_or_behind_a_number(tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text("src,dst,bytes_kB,start_us\nh1,h3,1.5,20\nh1,h2,1 MB,3 ms\nh2,h3,,0\n")
    assert read(file) == [
        Flow("h1", "h3", 1500.0, 20e-6),
        Flow("h1", "h2", 1e6, 3e-3),
        Flow("h2", "h3", math.inf, 0.0),
    ]
    file.write_text("src,dst,bytes,start_kB\nh1,h3,1,0\n")
    with pytest.raises(ValueError, match=r"expected the columns .* got src,dst,bytes,start_kB"):
        read(file)
    file.write_text("src,dst,bytes,start\nh1,h3,1 us,0\n")
    with pytest.raises(ValueError, match=r"line 2: bytes '1 us' is not a number of at least 1, with or without B, kB"):
        read(file)
