"""A plugin that fails, hangs or prints: the run says who and where, and what it measured until then is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.failing import (
    CONTROLLER,
    FLOW_CONTROLLER,
    GOOD_THRESHOLDS,
    TUNER,
    assert_blamed,
    failed,
    line_of,
    plugin,
)
from tests.support.outside import run, summary_in
from tests.support.runs import UNDRAWN, VIRTUAL

SHORT = ("run", "incast-2", "--duration", "400 us", *VIRTUAL, *UNDRAWN)


@pytest.mark.parametrize(
    ("template", "parts", "marker", "says"),
    [
        (CONTROLLER, {"feedback": "flows[0] / 0 + {}"}, "flows[0]", "TypeError"),
        (CONTROLLER, {"feedback": "self.rate[flows] = float('nan')"}, "def on_feedback", "set rate nan bit/s"),
        (CONTROLLER, {"timer": "self.rate = 1e9"}, "def on_timer", "must stay arrays, one number per flow"),
        (FLOW_CONTROLLER, {"ack": "self.rate = float('nan')"}, "self.rate = float", "set rate nan bit/s"),
        (FLOW_CONTROLLER, {"ack": "self.rate = ack.int_stack[4].queue"}, "int_stack[4]", "IndexError"),
        (FLOW_CONTROLLER, {"ack": "raise ValueError('no')"}, "raise", "ValueError: no"),
        (FLOW_CONTROLLER, {"ack": "self.rate = 1 / (self.count - 21)"}, "1 / (", "ZeroDivisionError"),
        (TUNER, {"initial": GOOD_THRESHOLDS, "slot": "sample.nothing"}, "sample.nothing", "AttributeError"),
    ],
    ids=lambda value: " ".join(value.values()) if isinstance(value, dict) else "",
)
def test_plugin_that_fails_ends_the_run_and_keeps_the_data(
    tmp_path: Path, template: str, parts: dict[str, str], marker: str, says: str
) -> None:
    done, blame = failed(tmp_path, SHORT, template, parts, marker)
    assert_blamed(done, summary_in(tmp_path), blame, says, 400e-6)


@pytest.mark.parametrize(
    ("template", "parts", "marker", "says"),
    [
        (CONTROLLER, {"init": "open('/nonesuch')"}, "open(", "FileNotFoundError"),
        (TUNER, {"initial": "1 / 0", "slot": "None"}, "1 / 0", "ZeroDivisionError"),
        (TUNER, {"initial": "None", "slot": "None"}, "def initial", "expected Thresholds"),
    ],
    ids=lambda value: " ".join(value.values()) if isinstance(value, dict) else "",
)
def test_plugin_that_fails_before_the_first_packet_leaves_no_results(
    tmp_path: Path, template: str, parts: dict[str, str], marker: str, says: str
) -> None:
    done, blame = failed(tmp_path, SHORT, template, parts, marker)
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"testbed: {blame}")
    assert says in message
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_compiled_is_bad_input(tmp_path: Path) -> None:
    file, source = plugin(tmp_path, FLOW_CONTROLLER, ack="self.windw = 4")
    done = run(tmp_path, *SHORT, "--controller", str(file))
    assert done.returncode == 2
    where = f"{file}, line {line_of(source, 'self.windw')}: "
    assert f"{where}cannot be compiled: Mine declares no 'windw'; did you mean 'window'?" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_timer_that_is_never_set_forward_is_told(tmp_path: Path) -> None:
    """Nothing else would ever happen in virtual time."""
    file, _ = plugin(tmp_path, FLOW_CONTROLLER, ack="self.timer = ack.now")
    done = run(tmp_path, *SHORT, "--controller", str(file))
    assert done.returncode == 1
    assert (
        "controller 'mine': on_timer leaves the timer of a flow in the past: set the next time, or inf" in done.stderr
    )


def test_plugin_that_prints_does_not_disturb_the_results(tmp_path: Path) -> None:
    file, source = plugin(tmp_path, CONTROLLER, timer="print('here I am')")
    file.write_text(source + "print('loaded')")
    done = run(tmp_path, *SHORT, "--controller", str(file), "--format", "json")
    assert done.returncode in (0, 3)
    assert "loaded" in done.stderr
    assert "here I am" in done.stderr
    json.loads(done.stdout)
