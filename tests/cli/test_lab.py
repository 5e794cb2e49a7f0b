"""`testbed lab`: DCQCN in the units of the card (values from NVIDIA's tables and the paper), and rollouts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from testbed.cli.main import app
from testbed.errors import BadInput


def printed(*arguments: str) -> dict[str, object]:
    done = CliRunner().invoke(app, ["lab", "vars", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    data: dict[str, object] = json.loads(done.stdout)
    return data


def values(data: dict[str, object]) -> dict[str, int]:
    settings = data["experiment_dcqcn"]
    assert isinstance(settings, dict)
    return {name.rpartition("/")[2]: one["value"] for name, one in settings.items()}


def test_nvidias_defaults_come_back_as_nvidias_defaults() -> None:
    """The preset `nic` is NVIDIA's table at 25 Gbit/s, so that the firmware's numbers must be those of the table."""
    data = printed("incast-8", "--set", "controller.preset=nic", "--line-rate", "25 Gbit/s")
    assert values(data) == {
        "clamp_tgt_rate": 0, "clamp_tgt_rate_after_time_inc": 1, "rpg_time_reset": 300, "rpg_threshold": 1,
        "rpg_max_rate": 0, "rpg_ai_rate": 5, "rpg_hai_rate": 50, "rpg_gd": 11, "rpg_min_dec_fac": 50, "rpg_min_rate": 1,
        "rate_to_set_on_first_cnp": 0, "dce_tcp_g": 1019, "dce_tcp_rtt": 1, "rate_reduce_monitor_period": 4,
        "initial_alpha_value": 1023, "min_time_between_cnps": 4,
    }  # fmt: skip


def test_rates_follow_the_port_and_times_do_not() -> None:
    slow, fast = (values(printed("incast-8", "--line-rate", f"{rate} Gbit/s")) for rate in (40, 200))
    assert (slow["rpg_ai_rate"], slow["rpg_hai_rate"]) == (40, 200)  # the paper's, at 40 Gbit/s
    assert (fast["rpg_ai_rate"], fast["rpg_hai_rate"]) == (200, 1000)
    assert slow["rpg_time_reset"] == fast["rpg_time_reset"] == 55
    assert slow["dce_tcp_g"] == 1020  # g = 1/256 is 4 of 1024


def test_what_the_firmware_cannot_do_is_said() -> None:
    said = str(printed("incast-8")["experiment_differences"])
    assert "no window; here it is 'bdp'" in said
    assert "rpg_byte_reset stays as it is" in said


def test_thresholds_are_bytes_and_whole_percent() -> None:
    ecn = printed("incast-8", "--line-rate", "25 Gbit/s")["experiment_ecn"]
    assert ecn == {
        "kmin": {"value": 100_000, "unit": "B"},
        "kmax": {"value": 400_000, "unit": "B"},
        "pmax": {"value": 20, "unit": "%"},
    }


def test_a_pmax_that_switches_cannot_be_given_is_said() -> None:
    data = printed("incast-8", "--set", "tuner.pmax=0.4 %")
    assert data["experiment_ecn"]["pmax"]["value"] == 0  # type: ignore[index]
    assert "Pmax is 0.4 %; switches are given whole percent, here 0 %" in str(data["experiment_differences"])
    assert "Pmax" not in str(printed("incast-8", "--set", "tuner.pmax=7 %")["experiment_differences"])


def test_a_controller_that_no_firmware_has_is_a_program() -> None:
    data = printed("incast-8", "--controller", "swift")
    assert (data["experiment_controller"], data["experiment_dcqcn"]) == ("pcc", {})


def test_the_digest_names_code_options_and_port() -> None:
    def digest(*arguments: str) -> object:
        policy = printed("incast-8", *arguments)["experiment_policy"]
        assert isinstance(policy, dict)
        return policy["sha256"]

    assert digest() == digest()
    assert len({digest(), digest("--set", "controller.g=0.01"), digest("--line-rate", "25 Gbit/s")}) == 3


@pytest.mark.parametrize("rate", ["fast", "100", "-1 Gbit/s"])
def test_a_rate_that_is_none(rate: str) -> None:
    with pytest.raises(BadInput, match="--line-rate"):
        printed("incast-8", "--line-rate", rate)


RECORD = {"began": "2026-11-20T09:30:00Z", "experiment": "incast-8", "controller": "dcqcn", "hosts": ["lab1", "lab2"]}


def keep(folder: Path, rollout: object, state: str, **more: object) -> None:
    """As the playbooks do: tests/ansible lists what they really wrote."""
    (folder / str(rollout)).mkdir(parents=True)
    record = RECORD | {"rollout": rollout, "state": state} | more
    (folder / str(rollout) / "rollout.json").write_text(json.dumps(record))


def test_rollouts_the_last_one_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    records = tmp_path / "testbed/rollouts"
    none = CliRunner().invoke(app, ["lab", "rollouts"], catch_exceptions=False)
    assert (none.exit_code, none.stdout) == (0, "")
    assert f"no rollout was made from here: {records} has none" in none.stderr

    keep(records, "night", "rolled back")
    keep(records, 7, "promoted", began="2026-11-21T09:30:00Z", controller="swift")  # YAML's ids may be numbers
    done = CliRunner().invoke(app, ["lab", "rollouts"], catch_exceptions=False)
    assert done.stdout.splitlines() == [
        "id     began, UTC           experiment  controller  hosts  state",
        "7      2026-11-21 09:30:00  incast-8    swift       2      promoted",
        "night  2026-11-20 09:30:00  incast-8    dcqcn       2      rolled back",
    ]
    listed = ["lab", "rollouts", "--records", str(records), "--format", "json"]
    assert [one["rollout"] for one in json.loads(CliRunner().invoke(app, listed).stdout)] == ["7", "night"]


def test_a_record_that_is_none(tmp_path: Path) -> None:
    keep(tmp_path, "r1", "promoted", hosts="lab1")
    with pytest.raises(BadInput, match=r"r1/rollout.json: hosts: .*; expected a record of ansible/tasks/record.yml"):
        CliRunner().invoke(app, ["lab", "rollouts", "--records", str(tmp_path)], catch_exceptions=False)
