"""What the kernel can do is found out without a trace."""

from __future__ import annotations

import subprocess
import sys

import pytest

from testbed.engines.kernel import features


@pytest.mark.root
@pytest.mark.parallel
def test_asking_the_kernel_leaves_nothing() -> None:
    answers = features.ask()
    assert set(answers) == set(features.FEATURES)
    assert "probe failed" not in " ".join(answers.values())


@pytest.mark.root
@pytest.mark.parallel
def test_asking_without_root_does_not_fail() -> None:
    code = "from testbed.engines.kernel.features import ask; print(*ask().values(), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, user=65534, check=True)
    assert "probe failed" not in done.stdout
    assert features.NEEDS_ROOT in done.stdout
