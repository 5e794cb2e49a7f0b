"""Cases of a test plan that must stay passed."""

from __future__ import annotations

import pytest

from testbed.advise.kept import Kept
from testbed.errors import BadInput

RED = {f"rack.switch.queues.{queue}.red.{name}": text for queue in (3, 4)
       for name, text in (("kmin", "100 kB"), ("kmax", "400 kB"), ("pmax", "20 %"))}  # fmt: skip
NEVER = {key: "100 %" if key.endswith("pmax") else "15 MB" for key in RED}


def test_thresholds_that_pfc_comes_before_lose_the_case_of_dcqcn() -> None:
    kept = Kept.read("sonic-rocev2:3")
    assert kept.lost(RED, RED, 100e9, 1) == []
    assert kept.lost(RED, NEVER, 100e9, 1), "DCQCN without a mark passed"


@pytest.mark.parametrize(
    ("text", "said"), [("sonic", "no test plan is named 'sonic'"), ("sonic-rocev2:99", "'99' is no case that runs")]
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Kept.read(text)
