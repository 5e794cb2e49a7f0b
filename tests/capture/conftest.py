from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.written import written


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "some.pcapng"
    path.write_bytes(written())
    return path
