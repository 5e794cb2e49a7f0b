"""sysfs, debugfs and configfs of a card as the kernel lets one use them."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.emulated_lab.host import Host
from tests.emulated_lab.lab import Lab

pytestmark = [pytest.mark.root, pytest.mark.parallel]


@pytest.fixture
def host(lab: Lab) -> Iterator[Host]:
    """The BlueField-3, as it was afterwards."""
    before = lab.hosts[0].state()
    yield lab.hosts[0]
    lab.hosts[0].store.write(before)


def ecn(host: Host, name: str) -> Path:
    return host.root / f"sys/class/net/{host.interface}/ecn/{name}"


def params(host: Host, name: str) -> Path:
    return host.root / f"sys/kernel/debug/mlx5/{host.pci}/cc_params/{name}"


def counter(host: Host, name: str) -> Path:
    return host.root / f"sys/class/infiniband/{host.device}/ports/1/hw_counters/{name}"


def refused(do: Callable[[], object]) -> int | None:
    """The errno of what must fail."""
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is what the test compares
        do()
    return caught.value.errno


def test_a_value_is_a_number_and_a_newline_and_is_read_back(host: Host) -> None:
    file = ecn(host, "roce_rp/rpg_ai_rate")
    assert file.read_text() == "5\n"
    for text, read in (("50", "50\n"), ("60\n", "60\n")):
        file.write_text(text)  # which truncates first: that has no effect of its own
        assert file.read_text() == read
    assert params(host, "rp_ai_rate").read_text() == "60\n"  # one value, two trees
    assert host.calls("write")[-1][1] == "60\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("roce_rp/rpg_gd", "16"), ("roce_rp/rpg_min_dec_fac", "101"), ("roce_rp/dce_tcp_g", "1024"),
        ("roce_rp/rpg_ai_rate", "-1"), ("roce_rp/rpg_ai_rate", "fast"), ("roce_rp/rpg_max_rate", "200001"),
        ("roce_np/cnp_dscp", "64"), ("roce_rp/enable/3", "2"), ("roce_rp/rpg_gd", "0x5"),
    ],
)  # fmt: skip
def test_out_of_range_is_einval_and_nothing_changes(host: Host, name: str, text: str) -> None:
    before = ecn(host, name).read_text()
    assert refused(lambda: ecn(host, name).write_text(text)) == errno.EINVAL
    assert ecn(host, name).read_text() == before


def test_opening_for_writing_changes_nothing(host: Host) -> None:
    with ecn(host, "roce_rp/rpg_gd").open("w"):
        pass
    assert ecn(host, "roce_rp/rpg_gd").read_text() == "11\n"


def test_no_create_no_rename_no_removal(host: Host) -> None:
    file = ecn(host, "roce_rp/rpg_gd")
    assert refused(lambda: file.with_name("new").write_text("1")) == errno.EACCES
    assert refused(lambda: file.rename(file.with_name("old"))) == errno.EPERM
    assert refused(file.unlink) == errno.EPERM
    assert refused((file.parent / "folder").mkdir) == errno.EPERM
    assert refused(lambda: counter(host, "np_cnp_sent").write_text("0")) == errno.EACCES


def test_debugfs_detects_the_base_and_is_roots(host: Host) -> None:
    params(host, "np_cnp_dscp").write_text("0x1a")
    assert params(host, "np_cnp_dscp").read_text() == "26\n"
    assert params(host, "np_cnp_dscp").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("rp_gd", "0x5\n", 5), ("rp_gd", "011", 9), ("np_cnp_dscp", "70", 6), ("np_cnp_prio", "8", 0),
        ("rp_clamp_tgt_rate", "2", 0),
    ],
)  # fmt: skip
def test_debugfs_cuts_a_number_to_its_field(host: Host, name: str, text: str, read: int) -> None:
    params(host, name).write_text(text)
    assert params(host, name).read_text() == f"{read}\n"


@pytest.mark.parametrize("text", ["16", "-1", " 3", "08", "1_0", "4294967296"])
def test_debugfs_refuses(host: Host, text: str) -> None:
    error = errno.ERANGE if len(text) > 2 and text.isdecimal() else errno.EINVAL
    assert refused(lambda: params(host, "rp_gd").write_text(text)) == error
    assert params(host, "rp_gd").read_text() == "11\n"


def test_writing_the_cnp_priority_resets_its_mode(host: Host) -> None:
    params(host, "np_cnp_prio_mode").write_text("1")
    params(host, "np_cnp_prio").write_text("5")
    assert params(host, "np_cnp_prio_mode").read_text() == "0\n"
    params(host, "np_cnp_prio_mode").write_text("1")
    ecn(host, "roce_np/cnp_802p_prio").write_text("6")  # through the other tree as well
    assert params(host, "np_cnp_prio_mode").read_text() == "0\n"


def test_writing_the_dscp_of_rtt_responses_makes_it_valid(host: Host) -> None:
    assert params(host, "rtt_resp_dscp_valid").read_text() == "0\n"
    params(host, "rtt_resp_dscp").write_text("26")
    assert params(host, "rtt_resp_dscp_valid").read_text() == "1\n"


def test_a_vf_has_no_settings(lab: Lab) -> None:
    vf = lab.hosts[3]
    assert refused(lambda: ecn(vf, "roce_rp/rpg_gd").read_text()) == errno.ENOENT
    assert refused(lambda: params(vf, "rp_gd").read_text()) == errno.ENOENT
    assert (vf.root / f"sys/class/net/{vf.interface}/device/physfn").is_symlink()


def test_the_inbox_driver_has_debugfs_only(lab: Lab) -> None:
    inbox = lab.hosts[2]
    assert not ecn(inbox, "roce_rp/rpg_gd").exists()
    assert not (inbox.root / f"sys/class/infiniband/{inbox.device}/tc").exists()
    there = inbox.run(
        ["sh", "-c", "ls /usr/bin | grep -xE 'mlnx_qos|cma_roce_tos|ml?xconfig|mlxreg|doca_pcc'"], check=False
    )
    assert there.stdout == ""
    assert inbox.run(["mstconfig", "-d", inbox.pci, "q"]).stdout
    assert params(lab.hosts[0], "rtt_resp_dscp").exists()
    assert not params(inbox, "rtt_resp_dscp").exists()  # a card without that capability
    assert params(inbox, "rp_gd").read_text() == "11\n"


def test_defaults_differ_by_firmware(lab: Lab) -> None:
    assert [params(host, "rp_min_dec_fac").read_text() for host in lab.hosts[:3]] == ["50\n", "50\n", "75\n"]


def test_counters_grow_when_told_and_one_can_be_unreadable(host: Host) -> None:
    assert counter(host, "rp_cnp_handled").read_text() == "0\n"
    host.count("rp_cnp_handled", add=5, rate=1000)
    time.sleep(0.05)
    first = int(counter(host, "rp_cnp_handled").read_text())
    time.sleep(0.05)
    assert 5 < first < int(counter(host, "rp_cnp_handled").read_text())
    host.break_file("rp_cnp_handled")
    assert refused(lambda: counter(host, "rp_cnp_handled").read_text()) == errno.EINVAL
    assert counter(host, "np_cnp_sent").read_text() == "0\n"


def test_a_file_can_ignore_what_is_written(host: Host) -> None:
    host.break_file("rpg_gd", "ignored")
    ecn(host, "roce_rp/rpg_gd").write_text("3")
    assert ecn(host, "roce_rp/rpg_gd").read_text() == "11\n"


def test_configfs_needs_its_folder_and_keeps_the_value(host: Host) -> None:
    folder = host.root / "sys/kernel/config/rdma_cm" / host.device
    tos = folder / "ports/1/default_roce_tos"
    assert not folder.exists()
    assert refused(folder.with_name("mlx5_9").mkdir) == errno.ENODEV
    folder.mkdir()
    tos.write_text("106")
    assert refused(lambda: tos.write_text("256")) == errno.EINVAL
    folder.rmdir()
    assert not folder.exists()
    assert host.run(["cma_roce_tos", "-d", host.device]).stdout == "106\n"


def test_unmodified_paths_lead_to_the_card(host: Host) -> None:
    sys = host.root / "sys"
    assert (sys / f"class/net/{host.interface}/device/vendor").read_text() == "0x15b3\n"
    assert (sys / f"bus/pci/devices/{host.pci}/net/{host.interface}/mtu").read_text() == "9000\n"
    assert (sys / f"class/infiniband/{host.device}/ports/1/link_layer").read_text() == "Ethernet\n"
    assert (sys / f"class/infiniband/{host.device}/tc/1/traffic_class").read_text() == "Global tclass=0\n"


def test_interfaces_come_and_go(host: Host) -> None:
    host.run(["ip", "link", "add", "later0", "type", "veth", "peer", "name", "later1"])
    names = {path.name for path in (host.root / "sys/class/net").iterdir()}
    assert {"eth0", "lo", "later0", "later1", host.interface} == names
    assert (host.root / "sys/class/net/later0/operstate").read_text() == "down\n"
    host.run(["ip", "link", "del", "later0"])
    assert not (host.root / "sys/class/net/later0").exists()
