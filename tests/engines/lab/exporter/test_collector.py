"""A scrape of a host, on plain files."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from testbed.engines.lab.exporter import collector as collectors
from testbed.engines.lab.exporter.collector import HostCollector
from testbed.engines.lab.exporter.devices import SYSFS as SYSFS_NAMES
from tests.support.host_tree import DEVICE, SHA256, SYSFS, plant, put, registers, roll_out, tools

Sample = Callable[..., float | None]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tools(tmp_path / "tools")), prepend=":")
    return plant(tmp_path / "host")


def scraped(root: Path, collector: HostCollector | None = None) -> Sample:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector or HostCollector(root))
    assert generate_latest(registry).endswith(b"\n")
    return lambda metric, /, **labels: registry.get_sample_value(f"testbed_{metric}", labels)


def test_active_settings(root: Path) -> None:
    sample = scraped(root)
    assert sample("dcqcn_parameter", device="mlx5_0", name="rpg_ai_rate") == 50
    assert sample("dcqcn_parameter", device="mlx5_0", name="roce_rp_enable_3") == 1
    assert sample("dcqcn_parameter", device="mlx5_0", name="roce_np_enable_3") == 0
    assert sample("dcqcn_parameter", device="mlx5_0", name="cnp_dscp") == 48
    assert sample("pcc_parameter", device="mlx5_0", slot="0", name="START_RATE_FXP20") is None
    assert sample("registers_age_seconds") == float("inf")
    assert sample("deploy_phase", phase="idle") == 1


def test_with_mainline_s_driver_debugfs_has_the_same_names(root: Path) -> None:
    for side in ("roce_rp", "roce_np"):
        (root / SYSFS.lstrip("/") / side).rename(root / side)
    registers(root)
    assert scraped(root)("dcqcn_parameter", device="mlx5_0", name="rpg_ai_rate") == 50
    assert SYSFS_NAMES["rp_dce_tcp_g"] == "dce_tcp_g"
    assert SYSFS_NAMES["rp_gd"] == "rpg_gd"


def test_counters(root: Path) -> None:
    sample = scraped(root)
    assert sample("nic_rp_cnp_handled_total", device="mlx5_0") == 12
    assert sample("nic_np_cnp_sent_total", device="mlx5_0") == 34
    assert sample("nic_out_of_sequence_total", device="mlx5_0") is None  # this driver has none
    assert sample("port_tx_bytes_total", port="mlx5_0") == 4000  # words of 4 bytes
    assert sample("port_dropped_packets_total", port="mlx5_0") == 3
    assert sample("port_capacity_bytes_per_second", port="mlx5_0") == 25e9
    assert sample("nic_pause_frames_total", device="mlx5_0", priority="3", direction="rx") == 4
    assert sample("nic_paused_seconds_total", device="mlx5_0", priority="3", direction="rx") == 2.5
    assert sample("port_pause_frames_total", port="mlx5_0") == 7
    assert sample("port_paused_seconds_total", port="mlx5_0") == 1.5
    assert sample("dilation_ratio") == 1


def test_a_rollout(root: Path) -> None:
    roll_out(root)
    registers(root)
    sample = scraped(root)
    assert sample("policy_info", controller="adpg", version="0.1.0", sha256=SHA256) == 1
    assert (sample("deploy_phase", phase="verify"), sample("deploy_phase", phase="idle")) == (1, 0)
    assert sample("last_apply_timestamp_seconds") == 1763667000.5
    assert sample("pcc_parameter", device="mlx5_0", slot="0", name="START_RATE_FXP20") == 65536
    assert sample("pcc_counter_total", device="mlx5_0", slot="0", name="RTT_EVENTS") == 99
    assert sample("pcc_process_state", device="mlx5_0", state="active") == 1
    assert sample("pcc_process_state", device="mlx5_0", state="gone") == 0
    for name in ("roce_rp/rpg_ai_rate", "cc_params/rp_ai_rate", "traffic_class", "pcc/START_RATE_FXP20"):
        assert sample("setting_drift", device="mlx5_0", name=name) == 0
    assert sample("setting_drift", device="", name="policy") == 0


def test_drift(root: Path) -> None:
    """Of a file, of a parameter, of the policy; and of what cannot be read."""
    roll_out(root, **{"roce_rp/rpg_ai_rate": "40"})
    registers(root, START_RATE_FXP20=1)
    state = root / "var/lib/testbed/state.json"
    state.write_text(state.read_text().replace(SHA256, "cd" * 32))
    sample = scraped(root)
    assert sample("setting_drift", device="mlx5_0", name="roce_rp/rpg_ai_rate") == 1
    assert sample("setting_drift", device="mlx5_0", name="pcc/START_RATE_FXP20") == 1
    assert sample("setting_drift", device="", name="policy") == 1
    assert sample("setting_drift", device="mlx5_0", name="traffic_class") == 0
    registers(root, age=120)
    sample = scraped(root)
    assert sample("setting_drift", device="mlx5_0", name="cc_params/rp_ai_rate") == 1  # registers are too old
    assert sample("pcc_parameter", device="mlx5_0", slot="0", name="START_RATE_FXP20") is None
    assert 119 < (sample("registers_age_seconds") or 0) < 200


def test_a_process_that_was_killed_leaves_a_log_that_says_active(root: Path) -> None:
    roll_out(root)
    put(root, "/run/testbed/pcc/mlx5_0.pid", "999999999")
    sample = scraped(root)
    assert sample("pcc_process_state", device="mlx5_0", state="gone") == 1
    assert sample("pcc_process_state", device="mlx5_0", state="active") == 0
    (root / "run/testbed/pcc/mlx5_0.log").unlink()
    assert scraped(root)("pcc_process_state", device="mlx5_0", state="gone") == 1  # it should have one


def test_what_cannot_be_read_is_counted_and_the_rest_served(root: Path) -> None:
    roll_out(root)
    broken = f"{DEVICE}/ports/1/hw_counters/rp_cnp_handled"
    (root / broken.lstrip("/")).unlink()
    (root / broken.lstrip("/")).mkdir()  # reading it is an error, whoever reads
    put(root, f"{SYSFS}/roce_rp/rpg_gd", "eleven")
    put(root, "/var/lib/testbed/state.json", '{"version": 1, "phase"')
    collector = HostCollector(root)
    sample = scraped(root, collector)
    assert sample("nic_rp_cnp_handled_total", device="mlx5_0") is None
    assert sample("nic_np_cnp_sent_total", device="mlx5_0") == 34
    for file in (broken, f"{SYSFS}/roce_rp/rpg_gd", "/var/lib/testbed/state.json"):
        assert sample("scrape_errors_total", file=file) >= 1, file
    put(root, "/etc/testbed/rollout.json", "not ours")
    sample = scraped(root)
    assert sample("setting_drift", device="", name="/etc/testbed/rollout.json") == 1  # what is wanted is unknown
    assert sample("dcqcn_parameter", device="mlx5_0", name="rpg_ai_rate") == 50  # devices are found without it


def test_an_unknown_phase(root: Path) -> None:
    roll_out(root, phase="celebrating")
    sample = scraped(root)
    assert sample("deploy_phase", phase="unknown") == 1
    assert sample("scrape_errors_total", file="/var/lib/testbed/state.json") == 1


def test_no_host_at_all(tmp_path: Path) -> None:
    sample = scraped(tmp_path)
    assert sample("dilation_ratio") == 1
    assert sample("setting_drift", device="", name="policy") is None


def test_two_scrapers_cost_one_reading(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(collectors, "time", SimpleNamespace(monotonic=lambda: now, time=time.time))
    collector = HostCollector(root)
    before = list(collector.collect())
    now += 0.09
    put(root, f"{DEVICE}/ports/1/hw_counters/np_cnp_sent", "35")
    assert list(collector.collect()) == before
    now += 0.02
    assert scraped(root, collector)("nic_np_cnp_sent_total", device="mlx5_0") == 35


def test_a_slow_reading_is_as_old_as_its_beginning(root: Path, tmp_path: Path) -> None:
    """What changes while ethtool keeps one scraper waiting, the next one sees."""
    counter = root / f"{DEVICE}/ports/1/hw_counters/np_cnp_sent".lstrip("/")
    (tmp_path / "tools/ethtool").write_text(f"#!/bin/sh\necho 35 > {counter}\nsleep {1.5 * collectors.FRESH}\n")
    collector = HostCollector(root)
    for _ in collector.collect():
        pass
    assert scraped(root, collector)("nic_np_cnp_sent_total", device="mlx5_0") == 35
