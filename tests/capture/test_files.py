"""How much of a packet is kept."""

from __future__ import annotations

import pytest

from testbed.capture.files import snap_of
from testbed.errors import BadInput


def test_snap_is_a_size_that_holds_all_headers() -> None:
    assert snap_of("") == 65_535
    assert snap_of("1 kB") == 1000
    for wrong in ("10", "10 B", "big", "1 MB"):
        with pytest.raises(BadInput, match=f"--snap {wrong}: "):
            snap_of(wrong)
