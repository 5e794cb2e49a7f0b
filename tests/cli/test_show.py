"""`testbed show`."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import command


def test_show_can_be_run_again(tmp_path: Path) -> None:
    shown = command("show", "incast-8").stdout
    file = tmp_path / "shown.yaml"
    file.write_text(shown)
    assert command("show", str(file)).stdout == shown


def test_show_names_the_critical_path(tmp_path: Path) -> None:
    file = tmp_path / "ring.yaml"
    file.write_text(
        "traffic: {pattern: allreduce, ranks: 3, size: 3 B, compute: 7 us, iterations: 1}\ncontroller: fixed\n"
    )
    lines = command("show", str(file)).stdout.splitlines()
    # Four steps of a packet: 4 us of propagation, and the serialisation of 79 bytes.
    assert lines[1].startswith("# critical path 23.")
    assert "7 us of computing, 4 messages" in lines[1]
    assert lines[2].count(" > ") == 4


def test_nothing_waits_in_an_incast() -> None:
    assert "critical path" not in command("show", "incast-8").stdout


def test_it_says_what_thresholds_come_to_at_the_bottleneck() -> None:
    shown = command("show", "incast-8", "--set", "tuner.kmin=65kB").stdout
    assert (
        "# ECN at the bottleneck, s1-eth9 at 100 Gbit/s with 5 MB of buffer: Kmin 65 kB, Kmax 1.6 MB, Pmax 20 %\n"
    ) in shown
    assert "  kmin: 65 kB\n  kmax: 400 kB at 25 Gbit/s\n" in shown
    assert "Pmax 20 % to begin with\n" in command("show", "incast-8", "--set", "tuner=acc").stdout
