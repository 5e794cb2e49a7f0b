"""Why they fail: what docs/findings/adpg.md says of ADPG's and Aurora's reward."""

from __future__ import annotations

import pytest
from testbed_controllers.baselines.landscape import greed, main, pushed, rewards


@pytest.mark.parametrize("flows", [2, 128])
def test_below_capacity_the_reward_is_flat(flows: int) -> None:
    """-(0.064)^2 at any load: by hand, for nothing waits. Above, the limited one is flat again: (8 / 12.5)^2."""
    for load in (0.01, 0.9):
        assert rewards(flows, load) == pytest.approx((-(0.064**2),) * 2)
    limited, raw = rewards(flows, 1.1)
    full = 1 + 400 / 8.192 - 1.5
    assert raw == pytest.approx(-((full * (1.1 / flows) ** 0.5 - 0.064) ** 2), rel=0.02)
    assert limited == pytest.approx(-0.4096)


def test_reinforce_sees_only_the_cliff() -> None:
    """Nothing on the plain, and down from above; ADPG's gradient is 0.8 up on the plain."""
    plain, above = pushed(8, 0.5), pushed(8, 1.1)
    assert abs(plain.reinforce) < 3 * plain.error
    assert plain.adpg == pytest.approx(0.8)
    assert above.reinforce < -3 * above.error
    assert above.adpg < -1


def test_greed_pays_by_the_published_reward_always_and_by_the_rescaled_one_among_many() -> None:
    """d / N of 3000, less d / N of 2000, for many flows."""
    for flows in (2, 8, 128):
        published, _, lost = greed(flows)
        assert published > 1000 * lost
    _, rescaled, lost = greed(1000, 0.1)
    assert rescaled == pytest.approx(3 * 0.1 / 1000, rel=0.01)
    assert lost == pytest.approx(2 * 0.1 / 1000, rel=0.01)


def test_it_prints_its_tables(capsys: pytest.CaptureFixture[str]) -> None:
    main((2,), (0.5,))
    assert "-0.0041" in capsys.readouterr().out
