"""``--to doca-pcc`` on a host: strict, without floating point, within the card's limits, and right about its events."""

from __future__ import annotations

import ctypes
import re
import subprocess
from ctypes import c_uint32
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from testbed_controllers.adpg.export.fixed import Parameters
from testbed_controllers.adpg.observation import AdpgConfig

from tests.controllers.adpg.card import Card
from tests.controllers.adpg.conftest import HERE, STRICT, UNDEFINED, compiled
from tests.controllers.adpg.loops import BASE_RTT, heard_in_incast, model

CNP, TX, NACK, RTT = 2, 3, 5, 6
SOURCES = ("adpg_fixed.c", "adpg_pcc.c")
STUB = f"-I{HERE / 'doca'}"
PATIENCE = 300_000
LINE = 1 << 20


@pytest.mark.parametrize("source", SOURCES)
def test_compiles_strictly_with_floating_point_forbidden(doca_export: Path, tmp_path: Path, source: str) -> None:
    done = subprocess.run(
        ["gcc", *STRICT, "-ffreestanding", "-mgeneral-regs-only", STUB, "-c", doca_export / source,
         "-o", tmp_path / "one.o"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("source", SOURCES)
def test_compiles_for_the_card_s_instructions(doca_export: Path, tmp_path: Path, source: str) -> None:
    """rv64imac: no help from a library (soft float, libc), no division, no instruction of floating point."""
    target = ("--target=riscv64-unknown-elf", "-march=rv64imac", "-mabi=lp64", "-ffreestanding")
    out = tmp_path / "one.o"
    done = subprocess.run(
        ["clang", *target, *STRICT, STUB, "-c", doca_export / source, "-o", out],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    needed = set(
        subprocess.run(["llvm-nm", "-u", "-j", out], capture_output=True, text=True, check=True).stdout.split()
    )
    assert {name for name in needed if not name.startswith(("adpg_", "doca_pcc_dev_"))} == set()
    listing = subprocess.run(
        ["llvm-objdump", "-d", "--no-show-raw-insn", out], capture_output=True, text=True, check=True
    ).stdout
    words = {line.split()[1] for line in listing.splitlines() if re.match(r"^\s+[0-9a-f]+:\s", line)}
    assert "lw" in words  # the listing is one of instructions
    assert {word for word in words if word.startswith(("div", "rem", "f")) and not word.startswith("fence")} == set()


def test_sources_have_no_float(doca_export: Path) -> None:
    for file in doca_export.glob("*.[ch]"):
        code = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
        assert not re.search(r"\b(float|double|malloc|math\.h|string\.h)\b|\d\.\d", re.sub(r'"[^"]*"', "", code)), file


@pytest.fixture(scope="module")
def library(doca_export: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    sources = [*(doca_export / name for name in SOURCES), HERE / "doca" / "card.c"]
    return compiled(tmp_path_factory.mktemp("lib") / "card.so", sources, STUB, f"-I{doca_export}", *UNDEFINED)


@pytest.fixture
def card(library: ctypes.CDLL) -> Card:
    return Card(library)


def test_registers_within_the_limits(card: Card) -> None:
    assert not card.number("refused")  # 38 parameters, 63 counters, defaults within their ranges
    parameters, counters = card.registered("parameter"), card.registered("counter")
    assert [one.initial for one in parameters.values()] == [*astuple(Parameters.of(AdpgConfig(), BASE_RTT)), PATIENCE]
    assert all(one.permissions == 1 for one in parameters.values())
    assert "DECISIONS" in counters
    assert list((c_uint32 * 4).in_dll(card.library, "slots")) == [1, 1, 1, 1]
    assert card.number("masked") == 1 << 4  # acknowledgements, and nothing else


def test_new_flow_starts_and_asks_for_a_probe(card: Card) -> None:
    rate, asked = card.feed(0, TX, 1_000, 0)
    assert (rate[0], asked[0]) == (LINE, 1)
    rate, asked = card.feed(0, TX, 2_000, 0)
    assert (rate[0], asked[0]) == (LINE, 0)


def test_answer_decides_and_asks_again_across_the_clock_s_end(card: Card) -> None:
    start = 2**32 - 10_000
    card.feed(0, TX, start, 0)
    sent = start + 100
    rate, asked = card.feed(0, RTT, (sent + 400_000) % 2**32, sent)  # RTT of 400 us: overload
    assert rate[0] < 0.85 * LINE
    assert asked[0] == 1


def test_answer_from_before_the_last_request_does_not_count(card: Card) -> None:
    card.feed(0, TX, 0, 0)
    rate, asked = card.feed(
        0, [RTT, RTT], [50_000, 60_000], [100, 200]
    )  # the second was sent before the first decision
    assert asked.tolist() == [1, 0]
    assert rate[0] == rate[1]
    assert (card.counter("DECISIONS"), card.counter("LATE_ANSWERS")) == (1, 1)


def test_lost_probe_is_asked_for_again_ever_later(card: Card) -> None:
    at = np.arange(0, 20_000_000, 1_000)
    _, asked = card.feed(0, TX, at, 0)
    times = at[asked == 1] / PATIENCE
    np.testing.assert_allclose(np.diff(times)[:5], [1, 2, 4, 8, 16], rtol=0.02)
    assert np.diff(times).max() <= 33  # not for ever
    assert card.counter("PROBES_AGAIN") == len(times) - 1


def test_event_from_just_before_the_request_does_not_ask_again(card: Card) -> None:
    card.feed(0, TX, 1_000_000, 0)
    _, asked = card.feed(0, TX, [999_000, 700_000], 0)
    assert asked.tolist() == [0, 0]


@pytest.mark.parametrize("seconds", [0.5, 3.0, 4.0])
def test_flow_that_was_idle_takes_the_next_answer(card: Card, seconds: float) -> None:
    """Also when half of the clock's range, or nearly all of it, has gone by since the request."""
    card.feed(0, TX, 1_000_000, 0)
    sent = 1_000_000 + round(seconds * 1e9)
    rate, asked = card.feed(0, RTT, (sent + 400_000) % 2**32, sent % 2**32)
    assert (rate[0] < 0.85 * LINE, asked[0]) == (True, 1)


@pytest.mark.parametrize("kind", [CNP, NACK, TX, 4, 1, 99])
def test_other_events_leave_the_rate_alone(card: Card, kind: int) -> None:
    card.feed(0, TX, 0, 0)
    before, _ = card.feed(0, RTT, 50_000, 100)
    after, _ = card.feed(0, kind, 51_000, 0)
    assert after[0] == before[0]


def test_every_slot_is_controlled_and_the_internal_one_counted(card: Card) -> None:
    for slot in range(16):
        card.contexts[:] = 0
        card.feed(0, TX, 0, 0, slot)
        rate, _ = card.feed(0, RTT, 400_000, 100, slot)
        assert 0 < rate[0] < 0.85 * LINE
    assert card.counter("INTERNAL_SLOT") == 2


def test_runs_while_counters_are_disabled(card: Card) -> None:
    c_uint32.in_dll(card.library, "counting").value = 0
    card.feed(0, TX, 0, 0)
    rate, _ = card.feed(0, RTT, 400_000, 100)
    assert rate[0] < 0.85 * LINE


@pytest.mark.parametrize(
    ("slot", "first", "new", "fine"),
    [
        (0, 0, [1048576, 1], True),
        (0, 0, [0], False),  # a rate of 0 would mean a new flow
        (0, 2, [10_000_000_00 + 1], False),
        (0, 8, [300_000, 1], False),  # one number too many
        (15, 0, [1], False),
    ],
)
def test_parameters_are_vetted(card: Card, slot: int, first: int, new: list[int], fine: bool) -> None:
    asked = (c_uint32 * len(new))(*new)
    function = card.library.doca_pcc_dev_user_set_algo_params
    refused = function(c_uint32(1), c_uint32(slot), c_uint32(first), c_uint32(len(new)), asked, asked)
    assert bool(refused) != fine


@pytest.mark.parametrize(("flows", "start_rate"), [(2, 1.0), (8, 1.0), (64, 0.02)])
def test_events_of_a_closed_loop_give_the_model_s_rates(library: ctypes.CDLL, flows: int, start_rate: float) -> None:
    """Round-trip times that flows of the float controller heard: bit for bit the model's, and close to the float's."""
    heard = heard_in_incast(flows, 4e-3, start_rate)
    rtt = np.rint(heard.rtt * 1e9).astype(np.int64)
    parameters = Parameters.of(AdpgConfig.model_validate({"start_rate": start_rate}), BASE_RTT)
    card = Card(library, flows)
    (c_uint32 * 64).in_dll(library, "values")[0] = parameters.start_rate
    card.feed(np.arange(flows), TX, 0, 0)
    at = np.empty_like(rtt)
    for flow in range(flows):  # probes go one after the other
        mine = heard.flow == flow
        at[mine] = np.cumsum(rtt[mine])
    rate, _ = card.feed(heard.flow, RTT, at % 2**32, (at - rtt) % 2**32)
    np.testing.assert_array_equal(rate, model(heard.flow, rtt, parameters) >> 10)
    # in open loop small differences add up over hundreds of decisions, since nothing pulls them back
    early = slice(20 * flows)
    np.testing.assert_allclose(rate[early] / LINE, heard.rate[early], rtol=5e-3, atol=2 / LINE)
