"""The bar that runs, sweeps and jobs share."""

from __future__ import annotations

import io

from testbed.base.progress import Bar, clock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_there_are_plain_lines() -> None:
    stream = io.StringIO()
    with Bar(stream) as bar:
        bar.start(4)
        bar.update(1, "not shown")
        bar.say("[a word]")
    assert (stream.getvalue(), bar.shown) == ("[a word]\n", False)


def test_on_a_terminal_it_moves_and_leaves_nothing() -> None:
    stream = Terminal()
    bar = Bar(stream)
    bar.update(1, "before the start: no harm")
    bar.start()
    bar.update(1, "learning", total=4)  # how much there is may be known later
    bar.say("[a word]")
    bar.stop()
    bar.stop()
    told = stream.getvalue()
    for expected in (" 25%", "learning", "[a word]", "\x1b[?25h"):  # the last one: the cursor is back
        assert expected in told


def test_clock() -> None:
    assert [clock(seconds) for seconds in (0, 45.4, 120, 3600, 12_000)] == [
        "0 s",
        "45 s",
        "2 min",
        "60 min",
        "3 h 20 min",
    ]
