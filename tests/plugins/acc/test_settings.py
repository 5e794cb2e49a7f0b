"""Settings of a training."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from testbed_plugins.acc.settings import Settings


@pytest.mark.parametrize("options", [{"batch": 512, "memory": 256}, {"slots": 10}])
def test_a_training_that_would_never_learn_is_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match="nothing would be learned"):
        Settings(**options)
