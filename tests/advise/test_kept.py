"""Cases of a test plan that must stay passed."""

from __future__ import annotations

import time

import pytest

from testbed.advise.kept import Kept, changed
from testbed.errors import BadInput
from testbed.runs.plans.switch import Switch
from tests.support.advised import SWITCH

NOW = {"kmin": "100 kB", "kmax": "400 kB", "pmax": "20 %"}
NEVER = {"kmin": "15 MB", "kmax": "15 MB", "pmax": "100 %"}


def of(place: str, red: dict[str, str]) -> dict[str, str]:
    return {f"{place}.{name}": text for name, text in red.items()}


def test_thresholds_that_pfc_comes_before_lose_the_case_of_dcqcn() -> None:
    kept = Kept.read("sonic-rocev2:3", None, 100e9)
    passing = kept.passing(of("tuner", NOW), 1, None)
    against = kept.against(passing, of("tuner", NEVER), 1, None)
    assert against[0].startswith("it no longer passes case 3 of sonic-rocev2, "), "DCQCN without a mark passed"


def test_what_there_is_no_time_for_is_not_known() -> None:
    kept = Kept.read("sonic-rocev2:3", None, 100e9)
    (told,) = kept.against(["case 3"], of("tuner", NOW), 1, time.monotonic())
    assert told.startswith("whether it still passes the cases of sonic-rocev2 is not known: the time was used up")


def test_the_switch_is_the_users_own() -> None:
    kept = Kept.read("sonic-rocev2", SWITCH, 100e9)
    assert (kept.switch.weight(3), kept.switch.threshold(3, "kmin")) == (15, 250e3)
    then = changed(kept.switch, {**of("rack.switch.queues.3.red", NEVER), "rack.switch.groups.3.alpha": "0.25"})
    assert then.threshold(3, "kmin") == 15e6
    assert then.threshold(4, "kmin") == kept.switch.threshold(4, "kmin") != 15e6
    assert then.tables["groups"]["3"]["alpha"] == 0.25


def test_a_tuners_thresholds_are_those_of_every_queue_that_marks() -> None:
    then = changed(Switch.own(100e9), of("tuner", NEVER))
    assert [then.threshold(one, "kmin") for one in then.marked] == [15e6, 15e6]


@pytest.mark.parametrize(
    ("text", "said"), [("sonic", "no test plan is named 'sonic'"), ("sonic-rocev2:99", "'99' is no case that runs")]
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Kept.read(text, None, 100e9)
