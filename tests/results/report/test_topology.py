"""The drawing of the rack: well-formed, complete, and coloured by what the links carried."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

from testbed.results.report.topology import LEVELS, Link, draw, level, links_of
from tests.support.synthetic_runs import PAYLOAD, WIRE, run

SVG = "{http://www.w3.org/2000/svg}"


def star(hosts: int) -> list[Link]:
    """All send to the last one."""
    senders = [Link(f"s1-eth{i}", "s1", f"h{i}", 0.0, 1 / (hosts - 1)) for i in range(1, hosts)]
    return [*senders, Link(f"s1-eth{hosts}", "s1", f"h{hosts}", 1.0)]


def drawn(svg: str) -> tuple[ElementTree.Element, dict[str, list[str]]]:
    """The picture, and the colours of the parts with the same tooltip."""
    root = ElementTree.fromstring(svg)
    colours: dict[str, list[str]] = {}
    for part in root:
        title = part.find(f"{SVG}title")
        if title is not None and title.text:
            colours.setdefault(title.text, []).append(f"{part.get('fill')} {part.get('stroke')}")
    return root, colours


@pytest.mark.parametrize("hosts", [2, 9, 16, 17, 65, 1025])
def test_every_host_is_inside_the_picture(hosts: int) -> None:
    root, colours = drawn(draw(star(hosts), f"s1-eth{hosts}"))
    _, _, width, height = map(float, root.get("viewBox", "").split())
    for part in root.iter(f"{SVG}rect"):
        x, y, wide, high = (float(part.get(name, "nan")) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + wide <= width
        assert 0 <= y <= y + high <= height
        assert wide >= 3
    assert height < width
    assert len([title for title in colours if " to h" in title]) == hosts


@pytest.mark.parametrize("hosts", [9, 65])
def test_colours_say_what_a_link_carried_and_which_one_is_the_bottleneck(hosts: int) -> None:
    root, colours = drawn(draw(star(hosts), f"s1-eth{hosts}"))
    receiver = " ".join(colours[f"s1-eth{hosts}, s1 to h{hosts}: 100 %"])
    assert "--u5" in receiver
    share = 1 / (hosts - 1)
    sender = " ".join(colours[f"s1-eth1, s1 to h1: 0 %; h1 to s1: {100 * share:.3g} %"])
    assert "--u0" in sender
    assert f"--u{level(share)}" in sender
    assert "--u5" not in sender
    assert sum("--limit" in f"{part.get('fill')} {part.get('stroke')}" for part in root) in (
        2,
        3,
    )  # a halo or a frame, and the legend's
    assert f"bottleneck s1-eth{hosts} to h{hosts}: 100 %" in "".join(root.itertext())


def test_levels() -> None:
    assert [level(share) for share in (0, *LEVELS, 1, 1.2)] == [0, 1, 2, 3, 4, 5, 5, 5]
    assert level(math.nan) == 0


def test_switches_between_switches_stand_above() -> None:
    links = [Link(f"s{leaf}-eth{n}", f"s{leaf}", f"h{2 * leaf + n - 2}", 0.5, 0.1) for leaf in (1, 2) for n in (1, 2)]
    links += [Link(f"s{leaf}-eth9", f"s{leaf}", "s3", 0.9) for leaf in (1, 2)]
    links += [Link(f"s3-eth{leaf}", "s3", f"s{leaf}", 0.3) for leaf in (1, 2)]
    root, colours = drawn(draw(links, "s2-eth9"))
    height = {text.text: float(text.get("y", "nan")) for text in root.iter(f"{SVG}text")}
    assert height["s3"] < height["s1"] == height["s2"] < height["h1"]
    assert "--u4" in colours["s1-eth9, s1 to s3: 90 %"][0]
    assert "--u2" in colours["s3-eth1, s3 to s1: 30 %"][0]
    assert "bottleneck s2-eth9 to s3: 90 %" in height


def test_links_of_a_run() -> None:
    record = run((0.6, 0.4))
    sender, receiver = links_of(record)
    assert (sender.port, sender.switch, sender.neighbour) == ("s1-eth1", "s1", "h1")
    assert sender.sent == 0
    assert sender.received == pytest.approx(0.95 * 0.6)  # its share of 95 Gbit/s on the wire
    assert receiver.sent == pytest.approx(0.95)
    assert WIRE > PAYLOAD


def test_a_run_with_nothing_in_it_has_a_picture() -> None:
    record = run(warmup=1.0)
    assert all(math.isnan(link.sent) for link in links_of(record))
    assert ElementTree.fromstring(draw(links_of(record), "s1-eth2")) is not None
