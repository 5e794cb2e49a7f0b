"""What the tools print, and how they are called: small commands that do what the facts say the real ones do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from lab_settings import batch, mlnx_qos, mlxconfig, ppcc
from lab_settings.backend import Change, Setting
from lab_settings.command import run
from lab_settings.dcb import Dcb
from lab_settings.ecnconfig import EcnConfig
from lab_settings.errors import Ignored, LabError
from lab_settings.mlxconfig import NvConfigValue
from lab_settings.nvue import Nvue
from lab_settings.ppcc import Ppcc
from lab_settings.target import Target
from lab_settings.testbed_switch import TestbedSwitch

Command = Callable[[str, str], Path]
TARGET = Target("swp1", "mlx5_0", "0000:03:00.0")

QOS = """\
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
	prio:0 dscp:07,06,
	prio:3 dscp:26,24,
Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,
PFC configuration:
	priority    0   1   2   3   4   5   6   7
	enabled     0   0   0   1   0   0   0   0
	buffer      0   0   0   1   0   0   0   0
tc: 0 ratelimit: unlimited, tsa: vendor
"""

NVCONFIG = """\
Device #1:
----------
Device type:    BlueField3
Configurations:                              Default         Current         Next Boot
*       USER_PROGRAMMABLE_CC                 False(0)        False(0)        True(1)
        ROCE_CC_PRIO_MASK_P1                 255             255             255
        SOME_LIST                            Array[0..7]     Array[0..7]     Array[0..7]
The '*' shows parameters with next value different from default/current value.
"""

# The driver's table: the first entry switches trust and fills it, `replace` complains, the status is always 0.
DCB = """
import json, pathlib, sys
store = pathlib.Path(__file__).with_name("dcb.json")
state = json.loads(store.read_text()) if store.exists() else {"pfc": [False] * 8, "app": {}}
words = [word for word in sys.argv[1:] if not word.startswith("-")]
kind, verb, rest = words[0], words[1], words[4:]
if verb == "show":
    print(json.dumps({"prio_pfc": state["pfc"]} if kind == "pfc" else
                     {"dscp_prio": [[int(k), v] for k, v in state["app"].items()]} if state["app"] else {}))
elif kind == "pfc":
    for pair in rest[1:]:
        priority, flag = pair.split(":")
        state["pfc"][int(priority)] = flag == "on"
elif verb == "flush":
    state["app"] = {}
else:
    dscp, priority = rest[1].split(":")
    if verb == "del":
        state["app"][dscp] = 0
    else:
        if not state["app"]:
            state["app"] = {str(dscp): int(dscp) // 8 for dscp in range(64)}
        state["app"][dscp] = int(priority)
        if verb == "replace":
            print("Attribute deletion failed: No such file or directory", file=sys.stderr)
store.write_text(json.dumps(state))
"""

# As SONiC's: one field after the other, and a pair in the wrong order would stop orchagent.
ECNCONFIG = """
import json, pathlib, sys
store = pathlib.Path(__file__).with_name("wred.json")
state = json.loads(store.read_text()) if store.exists() else {"gmin": 1048576, "gmax": 2097152, "gdrop": 5}
if sys.argv[1] == "-l":
    print("Profile: AZURE_LOSSLESS")
    for field, name in (("gmin", "green_min_threshold"), ("gmax", "green_max_threshold"),
                        ("gdrop", "green_drop_probability")):
        print(f"{name:24}{state[field]}")
else:
    state[sys.argv[3].lstrip("-")] = int(sys.argv[4])
    if state["gmin"] > state["gmax"]:
        sys.exit("orchagent crashed: gmin > gmax")
    store.write_text(json.dumps(state))
"""

NV = """
import json, pathlib, sys
store = pathlib.Path(__file__).with_name("nv.json")
state = json.loads(store.read_text()) if store.exists() else {"live": {"min-threshold": 40000}, "staged": {}}
words = sys.argv[1:]
if words[0] == "show":
    print(json.dumps({"roce": {"traffic-class": {"3": state["live"]}}}))
elif words[0] == "set":
    state["staged"][words[6]] = int(words[7])
elif words == ["config", "apply", "-y"]:
    state["live"].update(state["staged"])
store.write_text(json.dumps(state))
"""

# A value above 100 is ignored, as registers do, and reported as a success.
MLXREG = """
import json, pathlib, sys
store = pathlib.Path(__file__).with_name("ppcc.json")
state = json.loads(store.read_text()) if store.exists() else {"value": 7, "enabled": 1}
words = sys.argv
assert "-y" in words, "it would ask"
fields = dict(pair.split("=") for pair in (words[words.index("--op" if "--get" in words else "--set") + 1]).split(","))
command = int(fields["cmd_type"])
answer = {0x10: {"text[0]": 0x12340100, "text[1]": 0}, 4: {"value": 1}, 3: {"value": state["enabled"]},
          0xA: {"text[0]": state["value"]}}.get(command, {})
if command == 8 and int(fields["value"]) <= 100:
    state["value"] = int(fields["value"])
if command in (1, 2):
    state["enabled"] = int(command == 1)
print("Sending access register...\\n\\nField Name            | Data\\n" + "=" * 35)
for name, value in {"cmd_type": command, **answer}.items():
    print(f"{name:22}| 0x{value:08x}")
store.write_text(json.dumps(state))
"""


# As `testbed switch`: all that is given at once, or refused with 2.
SWITCH = """
import json, pathlib, sys
store = pathlib.Path(__file__).with_name("switch.json")
port = {"kmin": 5000000, "kmax": 5000000, "pmax": 0.0}
state = json.loads(store.read_text()) if store.exists() else {"calls": 0, "swp1": {**port}, "swp2": {**port}}
words = sys.argv[2:]
if words[0] == "show":
    print(json.dumps({"ports": [{"name": name, **state[name]} for name in ("swp1", "swp2")]}))
else:
    names = [words[1]] if words[1].startswith("swp") else ["swp1", "swp2"]
    options = words[1 + words[1].startswith("swp"):]
    for option, value in zip(options[::2], options[1::2]):
        number, unit = value.split()
        for name in names:
            state[name][option.strip("-")] = float(number) / 100 if unit == "%" else int(number)
    if any(state[name]["kmin"] > state[name]["kmax"] for name in names):
        sys.exit(2)
    state["calls"] += 1
store.write_text(json.dumps(state))
"""


def put(settings: list[Setting], target: Target = TARGET) -> list[str]:
    """Names of what was changed."""
    backends = batch.backends_of(target)
    changes = batch.plan(settings, backends)
    batch.apply(changes, backends)
    return [change.setting.name for change in changes]


def test_mlnx_qos_is_read() -> None:
    found = mlnx_qos.parse(QOS)
    assert found["trust"] == "dscp"
    assert found["pfc"] == "0,0,0,1,0,0,0,0"
    assert {name: value for name, value in found.items() if "/" in name} == {
        "dscp/6": "0", "dscp/7": "0", "dscp/24": "3", "dscp/26": "3",
    }  # fmt: skip
    with pytest.raises(LabError, match="neither a trust state"):
        mlnx_qos.parse("Interface not found")


def test_nvconfig_columns_are_those_of_the_header() -> None:
    found = mlxconfig.parse(NVCONFIG)
    assert found == {
        "USER_PROGRAMMABLE_CC": NvConfigValue("False(0)", "False(0)", "True(1)"),
        "ROCE_CC_PRIO_MASK_P1": NvConfigValue("255", "255", "255"),
    }
    assert found["USER_PROGRAMMABLE_CC"].waits
    assert not found["ROCE_CC_PRIO_MASK_P1"].waits
    old = mlxconfig.parse("Configurations:       Next Boot\n   CNP_DSCP_P1    48\n")
    assert old == {"CNP_DSCP_P1": NvConfigValue(None, None, "48")}
    with pytest.raises(LabError, match="no line 'Configurations"):
        mlxconfig.parse("-E- Failed to open device")


ABOUT = {"device_type": "BlueField3", "name": "board", "description": "card", "device": "/dev/mst/mt41692_pciconf0"}
KEYS = {
    "USER_PROGRAMMABLE_CC": {"default": "False(0)", "current": "False(0)", "next": "True(1)"},
    "ROCE_CC_PRIO_MASK_P1": {"default": 255, "current": 255, "next": 255},
    "NOT_REPORTED": {"default": "N/A", "current": "N/A", "next": 3},
    "SOME_LIST": {"default": "Array[0..7]", "current": "Array[0..7]", "next": "Array[0..7]"},
}
ROWS = {key: {"read_only": False, **{f"{of}_value": value for of, value in row.items()}} for key, row in KEYS.items()}
WRITTEN = json.dumps({"Device #1": {**ABOUT, "tlv_configuration": ROWS}})
MLXCONFIG = f"""
import pathlib, sys
asked = sys.argv[1:]
pathlib.Path(__file__).with_name("asked").write_text(" ".join(asked))
if "-j" in asked:
    if {{old}}:
        sys.exit("-E- Unknown option: -j")
    pathlib.Path(asked[asked.index("-j") + 1]).write_text({WRITTEN!r})
else:
    print({NVCONFIG!r})
"""


def test_nvconfig_is_read_as_json_and_from_an_old_tool_as_text(command: Command) -> None:
    tool = command("mlxconfig", MLXCONFIG.replace("{old}", "False"))
    both = {
        "USER_PROGRAMMABLE_CC": NvConfigValue("False(0)", "False(0)", "True(1)"),
        "ROCE_CC_PRIO_MASK_P1": NvConfigValue("255", "255", "255"),
    }
    assert mlxconfig.MlxConfig(TARGET).query() == {**both, "NOT_REPORTED": NvConfigValue(None, None, "3")}
    asked = (tool.parent / "asked").read_text().split()
    assert (asked[:4], asked[-1]) == (["-d", TARGET.pci, "-e", "-j"], "query")
    assert not Path(asked[4]).parent.exists()  # what it wrote is gone
    command("mlxconfig", MLXCONFIG.replace("{old}", "True"))
    assert mlxconfig.MlxConfig(TARGET).query() == both
    with pytest.raises(LabError, match="something else than one device"):
        mlxconfig.parse_json("{}")


def test_dcb_is_read_back_because_its_status_says_nothing(command: Command) -> None:
    command("dcb", DCB)
    before = Dcb(TARGET).read(Dcb(TARGET).names())
    assert before == {"trust": "pcp", "pfc": "0,0,0,0,0,0,0,0"}
    wanted = [Setting("dcb", "pfc", "0,0,0,1,0,0,0,0"), Setting("dcb", "trust", "dscp"), Setting("dcb", "dscp/26", "3")]
    assert put(wanted) == ["dscp/26", "trust", "pfc"]  # the map first: its first entry is what switches trust
    assert put(wanted) == []
    assert put([Setting("dcb", "dscp/26", "4")]) == ["dscp/26"]  # a replace, which complains and works
    assert put([Setting("dcb", name, value) for name, value in before.items()]) == ["trust", "pfc"]
    assert Dcb(TARGET).read(Dcb(TARGET).names()) == before


@pytest.mark.parametrize(("kmin", "kmax"), [(4_000_000, 8_000_000), (100_000, 400_000), (1_500_000, 1_800_000)])
def test_kmin_is_never_above_kmax_on_the_way(command: Command, kmin: int, kmax: int) -> None:
    command("ecnconfig", ECNCONFIG)
    names = {"gmin": kmin, "gmax": kmax, "gdrop": 20}
    put([Setting("ecnconfig", f"AZURE_LOSSLESS/{name}", str(value)) for name, value in names.items()])
    put([Setting("ecnconfig", f"AZURE_LOSSLESS/{name}", value) for name, value in
         {"gmin": "1048576", "gmax": "2097152", "gdrop": "5"}.items()])  # fmt: skip
    assert EcnConfig(TARGET).read(["AZURE_LOSSLESS/gmax"]) == {"AZURE_LOSSLESS/gmax": "2097152"}


def test_nvue_changes_all_in_one_commit(command: Command) -> None:
    command("nv", NV)
    changed = put(
        [Setting("nvue", "roce/3/min-threshold", "100000"), Setting("nvue", "roce/3/max-threshold", "400000")]
    )
    assert changed == ["roce/3/max-threshold", "roce/3/min-threshold"]
    assert Nvue(TARGET).read(["roce/3/max-threshold"]) == {"roce/3/max-threshold": "400000"}


def test_our_own_switch_changes_all_in_one_call(command: Command, tmp_path: Path) -> None:
    program = command("testbed", SWITCH)
    (tmp_path / "sys/fs/bpf/testbed-switch-1").mkdir(parents=True)
    target = Target("", root=tmp_path)
    before = TestbedSwitch(target).read(TestbedSwitch(target).names())
    assert len(before) == 6
    wanted = [Setting("testbed", f"all/{name}", value) for name, value in
              {"kmin": "6000000", "kmax": "7000000", "pmax": "20"}.items()]  # fmt: skip
    assert put(wanted, target) == ["all/kmin", "all/kmax", "all/pmax"]  # in any order: nobody sees a part of it
    assert put(wanted, target) == []
    assert json.loads(program.with_name("switch.json").read_text())["calls"] == 1
    assert put([Setting("testbed", "swp2/pmax", "7")], target) == ["swp2/pmax"]
    assert TestbedSwitch(target).read(["all/pmax"]) == {"all/pmax": "swp1/pmax 20, swp2/pmax 7"}
    put([Setting("testbed", name, value) for name, value in before.items()], target)
    assert TestbedSwitch(target).read(before) == before
    with pytest.raises(LabError, match=r"'swp9/kmin' is not there; .* all, swp1, swp2"):
        put([Setting("testbed", "swp9/kmin", "1")], target)


def test_a_box_without_pins_is_no_switch_of_ours(command: Command, tmp_path: Path) -> None:
    command("testbed", SWITCH)
    own = TestbedSwitch(Target("", root=tmp_path))
    assert own.names() == []
    with pytest.raises(LabError, match="this box is no testbed switch"):
        own.read(["all/kmin"])


def test_a_register_that_ignores_a_value_is_found_out(command: Command) -> None:
    command("mlxreg", MLXREG)
    assert Ppcc(TARGET).names() == ["slot/0/enabled", "slot/0/parameter/0"]
    assert put([Setting("ppcc", "slot/0/parameter/0", "90"), Setting("ppcc", "slot/0/enabled", "0")]) == [
        "slot/0/parameter/0", "slot/0/enabled",
    ]  # fmt: skip
    with pytest.raises(Ignored, match="ppcc slot/0/parameter/0 is '90', not '101'"):
        put([Setting("ppcc", "slot/0/parameter/0", "101")])
    assert Ppcc(TARGET).read(["slot/3/parameter/0"]) == {"slot/3/parameter/0": None}  # nothing is in slot 3


def test_a_table_that_is_none_is_an_error() -> None:
    with pytest.raises(LabError, match="no table of fields"):
        ppcc.parse("-E- Failed to open device")


def test_commands_that_are_missing_are_named(command: Command) -> None:
    command("true", "")
    assert all(not backend.names() for backend in batch.backends_of(TARGET).values())
    with pytest.raises(LabError, match="command mlnx_qos is not installed"):
        put([Setting("mlnx_qos", "trust", "dscp")])
    script = command("probe", "")
    script.chmod(0o644)
    with pytest.raises(LabError, match="probe cannot be started: Permission denied"):
        run(str(script))


@pytest.mark.parametrize(
    ("trust", "order"), [("dscp", ["trust", "dscp/26", "pfc"]), ("pcp", ["dscp/26", "trust", "pfc"])]
)
def test_a_map_is_changed_while_it_is_trusted(command: Command, trust: str, order: list[str]) -> None:
    command("true", "")
    wanted = {"pfc": "0,0,0,1,0,0,0,0", "dscp/26": "3", "trust": trust}
    changes = [Change(Setting("mlnx_qos", name, value), None) for name, value in wanted.items()]
    assert [one.setting.name for one in batch.backends_of(TARGET)["mlnx_qos"].order(changes)] == order
