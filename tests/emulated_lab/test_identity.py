"""What `devlink` and `ethtool` say of the four generations."""

from __future__ import annotations

import json

import pytest

from tests.emulated_lab import counters
from tests.emulated_lab.cards import CARDS
from tests.emulated_lab.conftest import MakeStore
from tests.emulated_lab.fakes import devlink, ethtool
from tests.emulated_lab.spec import SLOTS


@pytest.mark.parametrize("card", CARDS)
def test_devlink_tells_the_generations_apart(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str], card: str
) -> None:
    assert devlink.main(["dev", "info", "-j"], make_store(card)) == 0
    info = json.loads(capsys.readouterr().out)["info"][f"pci/{SLOTS[card][0]}"]
    assert info["driver"] == "mlx5_core"
    assert info["versions"]["fixed"] == {"fw.psid": CARDS[card].psid, "board.id": CARDS[card].board}
    major = {"cx6dx": "22", "cx7": "28", "bf2": "24", "bf3": "32"}[card]  # of the firmware of a generation
    assert info["versions"]["running"]["fw.version"].split(".")[0] == major
    assert info["versions"]["stored"] == info["versions"]["running"]


def test_devlink_port_tells_a_vf(make_store: MakeStore, capsys: pytest.CaptureFixture[str]) -> None:
    devlink.main(["-j", "port", "show"], make_store("cx7", vf=True))
    (port,) = json.loads(capsys.readouterr().out)["port"].values()
    assert port["flavour"] == "virtual"


def test_devlink_of_another_device_is_an_error(make_store: MakeStore) -> None:
    assert devlink.main(["dev", "info", "pci/0000:99:00.0", "-j"], make_store("cx7")) != 0


def test_pause_counters_exist_only_of_priorities_with_pfc(
    make_store: MakeStore, capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_store("cx7")
    ethtool.main(["-S", SLOTS["cx7"][1]], store)
    assert "prio3_pause" not in capsys.readouterr().out
    with store.edit() as state:
        state["qos"]["pfc"][3] = 1
        counters.tell(state, "tx_prio3_pause", add=7)
    ethtool.main(["-S", SLOTS["cx7"][1]], store)
    out = capsys.readouterr().out
    assert "     tx_prio3_pause: 7\n" in out
    assert "prio4_pause" not in out
