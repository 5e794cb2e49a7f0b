"""Configurations of the HPCC family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from testbed.errors import BadInput
from testbed.experiment.imported.draft import Draft
from testbed.experiment.imported.hpcc_config import HpccConfig

CONFIG = """ENABLE_QCN 1
PACKET_PAYLOAD_SIZE 1000 {bytes}
TOPOLOGY_FILE mix/topology.txt
CC_MODE 3 {1: DCQCN, 3: HPCC}
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 900
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 50Mb/s
RATE_HAI 100Mb/s
MIN_RATE 100Mb/s
HAS_WIN 1
U_TARGET 0.95
MI_THRESH 0
ERROR_RATE_PER_LINK 0.0000
LINK_DOWN 0 0 0
KMAX_MAP 2 25000000000 400 100000000000 1600
KMIN_MAP 2 25000000000 100 100000000000 400
PMAX_MAP 2 25000000000 0.2 100000000000 0.2
BUFFER_SIZE 32
"""


def blocks(folder: Path, old: str = "", new: str = "", controller: str = "") -> tuple[dict[str, Any], Draft]:
    (folder / "config.txt").write_text(CONFIG.replace(old, new, 1))
    draft = Draft("x")
    HpccConfig(folder / "config.txt").into(draft, 100e9, controller)
    return draft.blocks, draft


def test_hpcc(tmp_path: Path) -> None:
    made, draft = blocks(tmp_path)
    assert made["controller"] == {"name": "hpcc", "eta": 0.95, "max_stage": 0, "flows": 100, "min_rate": "100 Mbit/s"}
    assert made["tuner"] == {
        "name": "static",
        "kmin": "100 kB at 25 Gbit/s",
        "kmax": "400 kB at 25 Gbit/s",
        "pmax": 0.2,
    }
    assert made["rack"]["switch"]["pool"] == {"size": "32 MiB"}
    assert made["rack"]["switch"]["groups"][3]["alpha"] == 0.125
    assert made["traffic"] == {"payload": "1 kB"}
    assert "config.txt, line 8: RP_TIMER 900" in draft.left_out
    assert not any("LINK_DOWN" in one or "U_TARGET" in one or "TOPOLOGY" in one for one in draft.left_out)


def test_dcqcn(tmp_path: Path) -> None:
    made, draft = blocks(tmp_path, "CC_MODE 3", "CC_MODE 1")
    assert made["controller"] == {
        "name": "dcqcn",
        "reference_rate": "100 Gbit/s",
        "g": 0.00390625,
        "alpha_period": "1 us",
        "cnp_interval": "1 us",
        "cut_period": "4 us",
        "clamp_target": "increase",
        "increase_timer": "900 us",
        "byte_counter": 0,
        "recovery_steps": 1,
        "additive": "50 Mbit/s",
        "hyper": "100 Mbit/s",
        "min_rate": "100 Mbit/s",
        "window": "bdp",
    }
    assert draft.left_out == ["config.txt, line 15: U_TARGET 0.95", "config.txt, line 16: MI_THRESH 0"]


@pytest.mark.parametrize(("mode", "name"), [(7, "timely"), (8, "dctcp")])
def test_other_controllers(mode: int, name: str, tmp_path: Path) -> None:
    assert blocks(tmp_path, "CC_MODE 3", f"CC_MODE {mode}")[0]["controller"]["name"] == name


def test_a_link_that_fails_is_named(tmp_path: Path) -> None:
    assert "config.txt, line 18: LINK_DOWN 5 1 2" in blocks(tmp_path, "DOWN 0 0 0", "DOWN 5 1 2")[1].left_out


def test_thresholds_that_do_not_follow_the_rate(tmp_path: Path) -> None:
    said = blocks(tmp_path, "100000000000 1600", "100000000000 800")[1].comments["tuner"]
    assert "kmax does not follow the rate there: 400 at 25 Gbit/s, 800 at 100 Gbit/s; written is the first." in said


def test_a_controller_that_is_not_here(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"config\.txt, line 4: CC_MODE: expected 1 \(dcqcn\), .* got 12; say --contr"):
        blocks(tmp_path, "CC_MODE 3", "CC_MODE 12")
    assert blocks(tmp_path, "CC_MODE 3", "CC_MODE 12", "swift")[0]["controller"] == "swift"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("BUFFER_SIZE 32", "BUFFER_SIZE -32", "line 22: expected a number that is not negative as word 2"),
        ("BUFFER_SIZE 32", "BUFFER_SIZE", "line 22: expected a number that is not negative as word 2"),
        ("RATE_AI 50Mb/s", "RATE_AI fast", "line 11: expected a number that is not negative as word 2"),
        ("KMIN_MAP 2", "KMIN_MAP 3", "line 20: expected 3 pairs of a rate in bit/s and a value"),
    ],
)
def test_bad_ones(old: str, new: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected") as caught:
        blocks(tmp_path, old, new)
    assert says in str(caught.value)
