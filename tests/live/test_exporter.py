from __future__ import annotations

import numpy as np
import pytest

from testbed.live.exporter import Exporter
from tests.live.made import scene, snapshot
from tests.live.scrapes import Samples, one, samples, scraped
from tests.support.exported import BY_RUNS


@pytest.fixture
def found() -> Samples:
    exporter = Exporter()
    exporter.scene = scene()
    exporter.snapshot = snapshot(2e-3, exporter.scene, acked=(600, 200))
    return samples(scraped(exporter))


def test_values_are_in_base_units(found: Samples) -> None:
    assert one(found, "testbed_port_tx_bytes_total", port="s1-eth3") == 800_000
    assert one(found, "testbed_port_capacity_bytes_per_second", port="s1-eth3") == 1e9
    assert one(found, "testbed_flow_rate_bytes_per_second", flow="h1-h3") == 0.5e9
    assert one(found, "testbed_flow_rate_bytes_per_second", flow="h2-h3") == np.inf
    assert one(found, "testbed_flow_acked_bytes_total", flow="h1-h3") == 600_000
    assert one(found, "testbed_controller_acked_bytes_total", controller="swift") == 600_000
    assert one(found, "testbed_controller_ce_packets_total", controller="dcqcn") == 20
    assert one(found, "testbed_controller_active_flows", controller="dcqcn") == 1
    assert one(found, "testbed_controller_rtt_seconds_count", controller="dcqcn") == 200
    assert one(found, "testbed_job_iterations_total", job="ring") == 3
    assert one(found, "testbed_job_last_iteration_seconds", job="ring") == 2e-3
    assert one(found, "testbed_job_straggler_ratio", job="ring") == 1.25
    assert one(found, "testbed_job_bus_bandwidth_bytes_per_second", job="ring") == 8e9
    assert one(found, "testbed_dilation_ratio") == 1000
    assert one(found, "testbed_tuner_reward_ratio", switch="s1") == 0.75
    assert one(found, "testbed_tuner_decision_seconds_total", switch="s1") == 2e-3
    assert one(found, "testbed_tuner_refusals_total", switch="s1") == 1
    assert one(found, "testbed_tuner_state_info", switch="s1", state="exploring") == 1
    assert one(found, "testbed_distortion_ratio", limit="feedback lag") == 1.5


def test_queues_have_their_classes(found: Samples) -> None:
    rdma = {"port": "s1-eth3", "queue": "3", "class": "rdma"}
    assert one(found, "testbed_queue_depth_bytes", **rdma) == 1900
    assert one(found, "testbed_queue_watermark_bytes", **rdma) == 9000
    assert one(found, "testbed_queue_tx_bytes_total", **rdma) == 792_000
    assert one(found, "testbed_queue_marked_packets_total", **rdma) == 80
    assert one(found, "testbed_queue_dropped_packets_total", **rdma | {"queue": "5", "class": "cnp"}) == 1


def test_labels_join_through_the_info_metrics(found: Samples) -> None:
    assert one(found, "testbed_port_info", port="s1-eth3", switch="s1", to="h3") == 1
    assert one(found, "testbed_flow_info", flow="h2-h3", src="h2", dst="h3") == 1
    run = {"run": "made-swift", "experiment": "made", "controller": "swift + dcqcn", "tuner": "static", "seed": "7"}
    assert one(found, "testbed_run_info", **run) == 1


def test_histograms_are_cumulative_and_complete(found: Samples) -> None:
    def bucket(name: str, le: str, **labels: str) -> float:
        return one(found, f"{name}_bucket", le=le, **labels)

    port = {"port": "s1-eth3"}
    assert bucket("testbed_port_arrival_queue_bytes", "1024", **port) == 0
    assert bucket("testbed_port_arrival_queue_bytes", "2048", **port) == 800
    assert bucket("testbed_port_arrival_queue_bytes", "+Inf", **port) == 800
    assert one(found, "testbed_port_arrival_queue_bytes_count", **port) == 800
    assert one(found, "testbed_port_arrival_queue_bytes_sum", **port) == 800 * 1500
    flow = {"flow": "h1-h3"}
    below = {
        float(dict(labels)["le"]): value
        for (name, labels), value in found.items()
        if name == "testbed_flow_rtt_seconds_bucket" and ("flow", "h1-h3") in labels
    }
    assert list(below.values()) == sorted(below.values())
    assert all(count == (600 if limit > 10e-6 else 0) for limit, count in below.items())
    assert one(found, "testbed_flow_rtt_seconds_count", **flow) == 600
    assert one(found, "testbed_flow_rtt_seconds_sum", **flow) == pytest.approx(600 * 10e-6)


def test_rtts_beyond_the_limits_are_not_lost() -> None:
    for rtt in (1e-7, 5.0):
        exporter = Exporter()
        exporter.scene = scene()
        exporter.snapshot = snapshot(2e-3, exporter.scene, acked=(600, 200), rtt=rtt)
        assert one(samples(scraped(exporter)), "testbed_flow_rtt_seconds_count", flow="h1-h3") == 600


def test_everything_in_the_table_is_exported_and_nothing_else(found: Samples) -> None:
    def base(name: str) -> str:
        for suffix in ("_bucket", "_count", "_sum"):
            if name.removesuffix(suffix) in BY_RUNS:
                return name.removesuffix(suffix)
        return name

    assert {base(name) for name, _ in found} == BY_RUNS


def test_before_the_run_there_is_nothing_and_then_what_is_known() -> None:
    exporter = Exporter()
    assert scraped(exporter) == ""
    exporter.scene = scene()
    text = scraped(exporter)
    assert "testbed_run_info" in text
    assert "tx_bytes" not in text
