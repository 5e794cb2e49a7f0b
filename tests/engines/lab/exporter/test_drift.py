"""When a setting is the wanted one."""

from __future__ import annotations

import pytest

from testbed.engines.lab.exporter.drift import equal


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [("50", "50", True), ("50", "0x32", True), ("050", "50", True), ("50", "51", False), ("dscp", "dscp", True),
     ("dscp", "pcp", False), ("Global tclass=106", "106", True), ("", "0", False)],
)  # fmt: skip
def test_equal(found: str, wanted: str, same: bool) -> None:
    assert equal(found, wanted) is same
