"""Programs for a card in the rack: the exports, whose every decision is the model's, and a third party's."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from testbed_controllers.adpg.export import job as adpg
from testbed_controllers.exports import fixed, swift

from testbed.base import code
from testbed.compiled import c_firmware
from testbed.controller import Signal
from testbed.errors import BadInput
from testbed.registry import find
from testbed.sdk.conformance.controllers import check
from testbed.sdk.conformance.trial import LINE, Fabric
from testbed.sdk.export.program import Program
from tests.support.card.exports import WRITTEN
from tests.support.card.modelled import modelled
from tests.support.trials import tried

BASE = {"base_rtt": "8 us"}
WITH_INT = ("hpcc", "powertcp")
PROGRAMS: dict[str, Program] = {
    "fixed": fixed.program(fixed.FixedExportConfig()),
    "swift": swift.program(swift.SwiftExportConfig.model_validate(BASE)),
    "adpg": adpg.program(adpg.AdpgExportConfig.model_validate(BASE)),
}


@pytest.mark.parametrize("world", [{}, {"loss": 0.05}], ids=["clean", "lossy"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_decision_in_the_rack_is_the_model_s(
    exports: dict[str, Path],
    name: str,
    world: dict[str, Any],
) -> None:
    trial = tried(str(exports[name]), 4, 1e-3, **world)
    found = [(rate * LINE, flow) for flow, rate in modelled(PROGRAMS[name], trial.decided, 4)]
    assert [rate for rate, _ in found] == trial.decided["rate"].tolist()
    flows = {id(flow): flow for _, flow in found}.values()
    assert all(flow.decisions > 5 for flow in flows)
    assert not world or name == "fixed" or sum(flow.lost_probes for flow in flows) > 0


@pytest.mark.parametrize("name", WRITTEN)
def test_what_the_tool_writes_fills_the_line_and_shares_it(exports: dict[str, Path], name: str) -> None:
    """On the network that it was exported for; a card has no window, and marks reach it as CNPs."""
    fabric = Fabric(100e9, 8e-6)
    options = {"cnp_interval": 0} if name == "dctcp" else {}
    trial = tried(str(exports[name]), 2, 2e-3, fabric=fabric, options=options)
    assert trial.load(1e-3) > (0.25 if name == "timely" else 0.8)  # which adds 100 Mbit/s a time, from 1/16 of the line
    first, second = trial.growth(trial.flow_series.wire_bytes, 1e-3)
    assert 0.5 < first / second < 2
    assert (find("controller", str(exports[name])).form.signals & Signal.INT != Signal.NONE) == (name in WITH_INT)


THEIRS = Path(__file__).parent / "firmware" / "rtt_aimd"


def test_a_third_party_s_program_does_what_the_same_in_python_does() -> None:
    """Written from a public description, against the interface only; `rtt-template` is the same in floating point."""
    for flows in (1, 2):
        theirs, ours = tried(str(THEIRS), flows, 4e-3), tried("rtt-template", flows, 4e-3)
        loads, rates = (
            [one.load(2e-3) for one in (theirs, ours)],
            [one.growth(one.flow_series.wire_bytes, 2e-3) for one in (theirs, ours)],
        )
        assert loads[0] == pytest.approx(loads[1], abs=0.03)
        assert rates[0].std() / rates[0].mean() < 0.05


def test_its_parameters_are_options(capfd: pytest.CaptureFixture[str]) -> None:
    plugin = find("controller", str(THEIRS))
    assert (plugin.name, plugin.summary) == ("rtt_aimd", "A program for DOCA PCC.")
    fields = plugin.form.Config.model_fields
    assert list(fields) == [
        "update_factor", "ai", "base_relative_rtt", "new_flow_rate", "min_rate", "max_delay", "probe_loss",
        "cnp_interval",
    ]  # fmt: skip
    assert (fields["ai"].default, fields["ai"].description) == (52_428, "a step up, fxp20")
    with pytest.raises(BadInput, match=r"option 'update_factor'.*13107"):
        plugin.configure(None, {"update_factor": 13_108})
    slow = tried(str(THEIRS), 1, 1e-3, options={"new_flow_rate": 1 << 10, "ai": 1})
    assert slow.decided["rate"][0] == LINE / 1024
    with pytest.raises(Exception, match=r"SIGABRT .* in on_start of flow 0"):
        tried(str(THEIRS), 1, 1e-3, options={"new_flow_rate": 1})
    assert "the program refuses these parameters" in capfd.readouterr().err


def test_a_program_is_checked_on_the_network_that_it_is_made_for(exports: dict[str, Path]) -> None:
    """An export for 100 Gbit/s and 8 us cannot fill the line of another one."""
    assert c_firmware.made_for(exports["swift"]) == {"line_rate": 100e9, "base_rtt": 8e-6}
    assert c_firmware.made_for(THEIRS) == {}
    (result,) = check(find("controller", str(exports["swift"])), only="fills the line")
    assert result.passed, result.why


def test_answers_to_probes_can_get_lost() -> None:
    """A lost answer costs 300 us: with half of them lost, there are far fewer decisions, and no more."""
    changes = [
        len(set(tried(str(THEIRS), 2, 4e-3, options={"probe_loss": loss}).decided["rate"].tolist()))
        for loss in (0.0, 0.5)
    ]
    assert 3 < changes[1] < changes[0] / 3


def test_it_travels_as_one_file_with_the_same_digest(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    shutil.copytree(THEIRS, folder)
    archive = tmp_path / "theirs.zip"
    archive.write_bytes(code.content(folder))
    one, two = (find("controller", str(place)) for place in (folder, archive))
    assert (one.name, one.digest) == (two.name, two.digest)
    (folder / "aimd.h").write_text((folder / "aimd.h").read_text() + "\n")
    assert find("controller", str(folder)).digest != two.digest


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("int nothing;", "has no program for DOCA PCC"),
        ("doca_pcc_dev_user_algo", "could not compile"),
        (
            "#include <doca_pcc_dev_algo_access.h>\nvoid doca_pcc_dev_user_init(uint32_t *m) { *m = 0;"
            "doca_pcc_dev_init_algo_slot(0, 1, 0, 1); }\nvoid doca_pcc_dev_user_algo(doca_pcc_dev_algo_ctxt_t *c,"
            "doca_pcc_dev_event_t *e, const doca_pcc_dev_attr_t *a, doca_pcc_dev_results_t *r) { (void)c, (void)e,"
            "(void)a, (void)r; }\ndoca_pcc_dev_error_t doca_pcc_dev_user_set_algo_params(uint32_t a, uint32_t b,"
            "uint32_t c, uint32_t d, const uint32_t *e, uint32_t *f) { (void)a, (void)b, (void)c, (void)d, (void)e,"
            "(void)f; return DOCA_PCC_DEV_STATUS_OK; }\n",
            "declares another slot or algorithm than 0, which the card of the rack does not take",
        ),
    ],
)
def test_what_is_no_program(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "one.c").write_text(text)
    with pytest.raises(BadInput, match=says):
        find("controller", str(tmp_path))


def test_a_folder_with_everything_is_not_read() -> None:
    """Found by fuzzing --set: processes end while /proc is listed."""
    with pytest.raises(BadInput, match="'/' has more than 10,000 files"):
        find("controller", "/")
