"""What rollouts and the exporter call alike: one file for both, or names that must be equal."""

from __future__ import annotations

import pytest
from lab_settings import pcc, state

from testbed.live import lab_names
from tests.ansible.conftest import ANSIBLE
from tests.support.checkout import ROOT


@pytest.mark.parametrize("file", ["base/atomic.py", "engines/lab/shared_names.py"])
def test_hosts_get_the_file_that_the_testbed_uses(file: str) -> None:
    ours = ROOT / "testbed" / file
    assert (ANSIBLE / "module_utils/lab_settings" / ours.name).samefile(ours)


def test_the_exporter_knows_all_phases_and_states() -> None:
    assert (*state.PHASES, "unknown") == lab_names.PHASES
    assert (*pcc.STATES, "gone") == lab_names.STATES
