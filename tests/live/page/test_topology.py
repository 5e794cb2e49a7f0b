"""The drawing of the rack: every port has a place, switches have labels and stand in tiers."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, expect

from tests.live.page.seen import SCENE, has_ended, ports_in
from tests.support.browsing import DESKTOP, PHONE, visit
from tests.support.replayed import EVENTS, replay


def larger(hosts: int, flows_by: str = "flow") -> list[dict[str, Any]]:
    """The same run, as if so many hosts had sent."""
    events = copy.deepcopy(EVENTS)
    for event in events:
        data = event["data"]
        if event["event"] == "scene":
            port = data["ports"][0]
            data["ports"] = [port | {"name": f"s1-eth{i}", "to": f"h{i}"} for i in range(1, hosts + 2)]
            data["flows"] = [{"name": f"h{i}", "src": f"h{i}", "dst": "*"} for i in range(1, hosts + 1)]
            data["bottleneck"], data["flows_by"] = f"s1-eth{hosts + 1}", flows_by
        elif event["event"] == "update":
            data["ports"] = {name: [v[0]] * hosts + [v[-1]] for name, v in data["ports"].items()}
            data["flows"] = {name: (v * hosts)[:hosts] for name, v in data["flows"].items()}
    return events


@pytest.mark.parametrize(("hosts", "flows_by"), [(2, "flow"), (64, "flow"), (1024, "host")])
def test_racks_of_any_size(browser: Browser, hosts: int, flows_by: str) -> None:
    with replay(larger(hosts, flows_by)) as server, visit(browser, server.url) as seen:
        has_ended(seen)
        assert ports_in(seen) == hosts + 1
        box = seen.page.locator("#topology").bounding_box()
        drawn = seen.page.locator("#topology svg").bounding_box()
        assert drawn is not None
        assert box is not None
        assert drawn["x"] >= box["x"]
        assert drawn["x"] + drawn["width"] <= box["x"] + box["width"]
        assert seen.errors == []


def tiers(leaves: dict[str, list[str]], spines: list[str]) -> list[dict[str, Any]]:
    """The beginning of a run in this rack; the last host is the receiver."""
    ports = [(leaf, host) for leaf, hosts in leaves.items() for host in hosts]
    last = "-".join(ports[-1])
    ports += [pair for leaf in leaves for spine in spines for pair in ((leaf, spine), (spine, leaf))]
    events = copy.deepcopy(EVENTS[: SCENE + 1])
    events[SCENE]["data"] |= {
        "ports": [
            {"name": f"{a}-{b}", "switch": a, "to": b, "rate": 1e11, "buffer": 5e6} for a, b in ports
        ],
        "flows": [{"name": "h1-h4", "src": "h1", "dst": "h4"}],
        "bottleneck": last,
    }  # fmt: skip
    return events


@pytest.mark.parametrize("leaves", [2, 5, 12, 20])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_switch_has_a_label_that_fits(browser: Browser, size: dict[str, int], leaves: int) -> None:
    names = {f"leaf{i}": [f"h{2 * i - 1}", f"h{2 * i}"] for i in range(1, leaves + 1)}
    fitting = """[...document.querySelectorAll("#topology [data-switch]")].filter((box) => {
      const label = box.nextElementSibling, around = box.getBoundingClientRect();
      const { left, right, top, bottom } = label.getBoundingClientRect();
      const inside = left >= around.left && right <= around.right && top >= around.top && bottom <= around.bottom;
      return label.tagName === "text" && inside && box.dataset.switch.endsWith(label.textContent);
    }).length"""
    events = tiers(names, ["spine1", "spine2"])
    with replay(events, held=SCENE + 1) as server, visit(browser, server.url, size) as seen:
        expect(seen.page.locator("#topology [data-switch]")).to_have_count(leaves + 2)
        assert seen.page.evaluate(fitting) == leaves + 2
        assert f"{2 * leaves} hosts" in seen.text("#about")  # switches are none


def test_leaves_and_spines_stand_in_tiers(browser: Browser) -> None:
    events = tiers({"s1": ["h1", "h2"], "s2": ["h3", "h4"]}, ["s3", "s4"])
    with replay(events, held=SCENE + 1) as server, visit(browser, server.url) as seen:
        expect(seen.page.locator("#topology [data-switch]")).to_have_count(4)
        height = {
            name: float(seen.page.locator("#topology text", has_text=re.compile(f"^{name}$")).get_attribute("y") or 0)
            for name in ("s1", "s2", "s3", "s4", "h1", "h4")
        }
        assert height["s3"] == height["s4"] < height["s1"] == height["s2"] < min(height["h1"], height["h4"])
        assert ports_in(seen) == 12
        assert seen.errors == []
