"""The device's part on a host: strict, without floating point, within the card's limits, and right about its events."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
from ctypes import c_uint32
from pathlib import Path

import numpy as np
import pytest

from testbed.compiled.c_firmware import refused
from tests.support.card.exports import BY_HAND, NAMES, STRICT, STUB, WRITTEN, Cards

CNP, TX, ACK, NACK, RTT = 2, 3, 4, 5, 6
PATIENCE = 300_000
LINE = 1 << 20
START = LINE // 16
PROBING = ("adpg", "swift", *(one for one in WRITTEN if one != "dcqcn"))
every = pytest.mark.parametrize("name", NAMES)
by_hand = pytest.mark.parametrize("name", BY_HAND)  # what they decide is known
known = pytest.mark.parametrize("name", ["adpg", "swift"])
patient = pytest.mark.parametrize("name", [one for one in NAMES if one != "dcqcn"])  # not every event is a decision
probing = pytest.mark.parametrize("name", PROBING)


@every
def test_compiles_strictly_with_floating_point_forbidden(exports: dict[str, Path], tmp_path: Path, name: str) -> None:
    for source in (exports[name] / "device").glob("*.c"):
        command = ["gcc", *STRICT, "-ffreestanding", "-mgeneral-regs-only", STUB, "-c", source, "-o", tmp_path / "o"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@every
def test_compiles_for_the_card_s_instructions(exports: dict[str, Path], tmp_path: Path, name: str) -> None:
    """rv64imac: no help from a library (soft float, libc), no division, no instruction of floating point."""
    target = ("--target=riscv64-unknown-elf", "-march=rv64imac", "-mabi=lp64", "-ffreestanding")
    defined, needed, listing = set(), set(), ""
    for source in (exports[name] / "device").glob("*.c"):
        out = tmp_path / f"{source.stem}.o"
        command = ["clang", *target, *STRICT, STUB, "-c", source, "-o", out]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        needed |= set(_said("llvm-nm", "-u", "-j", out).split())
        defined |= set(_said("llvm-nm", "-U", "-j", out).split())
        listing += _said("llvm-objdump", "-d", "--no-show-raw-insn", out)
    assert {one for one in needed - defined if not one.startswith("doca_pcc_dev_")} == set()
    words = {line.split()[1] for line in listing.splitlines() if re.match(r"^\s+[0-9a-f]+:\s", line)}
    assert "lw" in words  # the listing is one of instructions
    assert {word for word in words if word.startswith(("div", "rem", "f")) and not word.startswith("fence")} == set()


def _said(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@every
def test_sources_have_no_float(exports: dict[str, Path], name: str) -> None:
    for file in (exports[name] / "device").glob("*.[ch]"):
        code = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
        assert not re.search(r"\b(float|double|malloc|math\.h|string\.h)\b|\d\.\d", re.sub(r'"[^"]*"', "", code)), file


@every
def test_registers_what_the_manifest_says_within_the_limits(card: Cards, exports: dict[str, Path], name: str) -> None:
    made, manifest = card(name), json.loads((exports[name] / "manifest.json").read_text())
    assert not refused(made.library)  # 38 parameters, 63 counters, defaults within their ranges
    parameters = made.registered("parameter")
    told = {one["name"]: (one["initial"], one["most"], one["least"]) for one in manifest["parameters"]}
    assert {key: (one.initial, one.most, one.least) for key, one in parameters.items()} == told
    assert all(one.permissions == 1 for one in parameters.values())
    assert all(re.search(r"_(NS|FXP\d+)$", key) for key in parameters)  # the unit is in the name
    assert list(made.registered("counter")) == manifest["counters"]
    assert list((c_uint32 * 4).in_dll(made.library, "card_slots")) == [1, 1, 1, 1]
    assert made.number("masked") == 1 << ACK


@patient
def test_new_flow_starts_slowly(card: Cards, name: str) -> None:
    made = card(name)
    rate, asked = made.feed(0, TX, [1_000, 2_000], 0)
    assert rate.tolist() == [START, START]
    assert asked.tolist() == [int(name in PROBING), 0]
    assert made.counter("NEW_FLOWS") == 1


@known
def test_answer_decides_and_asks_again_across_the_clock_s_end(card: Cards, name: str) -> None:
    made, start = card(name), 2**32 - 10_000
    made.feed(0, TX, start, 0)
    sent = start + 100
    rate, asked = made.feed(0, RTT, (sent + 4_000_000) % 2**32, sent)  # 4 ms: overload
    assert rate[0] < 0.85 * START
    assert asked[0] == 1


@known
def test_answer_from_before_the_last_request_does_not_count(card: Cards, name: str) -> None:
    made = card(name)
    made.feed(0, TX, 0, 0)
    rate, asked = made.feed(0, RTT, [50_000, 60_000], [100, 200])  # the second was sent before the first decision
    assert asked.tolist() == [1, 0]
    assert rate[0] == rate[1]
    assert (made.counter("DECISIONS"), made.counter("LATE_ANSWERS")) == (1, 1)


@probing
def test_lost_probe_is_asked_for_again_ever_later(card: Cards, name: str) -> None:
    made, at = card(name), np.arange(0, 20_000_000, 1_000)
    _, asked = made.feed(0, TX, at, 0)
    times = at[asked == 1] / PATIENCE
    np.testing.assert_allclose(np.diff(times)[:5], [1, 2, 4, 8, 16], rtol=0.02)
    assert np.diff(times).max() <= 33  # not for ever
    assert made.counter("PROBES_AGAIN") == len(times) - 1


@patient
def test_event_from_just_before_the_request_does_nothing(card: Cards, name: str) -> None:
    made = card(name)
    made.feed(0, TX, 1_000_000, 0)
    rate, asked = made.feed(0, TX, [999_000, 700_000], 0)
    assert (asked.tolist(), rate.tolist()) == ([0, 0], [START, START])


@pytest.mark.parametrize("seconds", [0.5, 3.0, 4.0])
@known
def test_flow_that_was_idle_takes_the_next_answer(card: Cards, name: str, seconds: float) -> None:
    """Also when half of the clock's range, or nearly all of it, has gone by since the request."""
    made = card(name)
    made.feed(0, TX, 1_000_000, 0)
    sent = 1_000_000 + round(seconds * 1e9)
    rate, asked = made.feed(0, RTT, (sent + 4_000_000) % 2**32, sent % 2**32)
    assert (rate[0] < 0.85 * START, asked[0]) == (True, 1)


@pytest.mark.parametrize("kind", [CNP, NACK, TX, ACK, 1, 99])
@patient
def test_other_events_leave_the_rate_alone(card: Cards, name: str, kind: int) -> None:
    made = card(name)
    made.feed(0, TX, 0, 0)
    before, _ = made.feed(0, RTT, 50_000, 100)
    after, _ = made.feed(0, kind, 51_000, 0)
    assert after[0] == before[0]


def test_a_nack_makes_swift_s_next_answer_a_cut(card: Cards) -> None:
    made = card("swift")
    made.feed(0, TX, 0, 0)
    window = made.contexts[0, 4]
    made.feed(0, NACK, 1_000, 0)
    made.feed(0, RTT, 9_000, 500)  # 8.5 us: below any target
    assert made.contexts[0, 4] == window - window // 2
    made.feed(0, RTT, 18_000, 9_500)
    assert made.contexts[0, 4] == window - window // 2 + (1 << 18)  # forgotten: it grows by one packet


@by_hand
def test_every_slot_is_controlled_and_the_internal_one_counted(card: Cards, name: str) -> None:
    made = card(name)
    for slot in range(16):
        made.contexts[:] = 0
        made.feed(0, TX, 0, 0, slot)
        rate, _ = made.feed(0, RTT, 4_000_000, 100, slot)
        assert rate[0] != START
    assert made.counter("INTERNAL_SLOT") == 2


@by_hand
def test_runs_while_counters_are_disabled(card: Cards, name: str) -> None:
    made = card(name)
    c_uint32.in_dll(made.library, "card_counting").value = 0
    made.feed(0, TX, 0, 0)
    rate, _ = made.feed(0, RTT, 4_000_000, 100)
    assert rate[0] != START


@every
def test_parameters_are_vetted(card: Cards, name: str) -> None:
    made = card(name)
    ranges = [(one.least, one.most) for one in made.registered("parameter").values()]
    function = made.library.doca_pcc_dev_user_set_algo_params

    def takes(new: list[int], first: int = 0, slot: int = 0) -> bool:
        asked = (c_uint32 * len(new))(*new)
        return not function(c_uint32(1), c_uint32(slot), c_uint32(first), c_uint32(len(new)), asked, asked)

    for number, (least, most) in enumerate(ranges):
        assert takes([least], number)
        assert takes([most], number)
        assert least == 0 or not takes([least - 1], number)
        assert most == 2**32 - 1 or not takes([most + 1], number)
    assert takes([least for least, _ in ranges])
    assert not takes([ranges[-1][0], 1], len(ranges) - 1)  # one number too many
    assert not takes([ranges[0][0]], slot=15)


@by_hand
def test_no_rate_moves_further_than_one_step(card: Cards, name: str) -> None:
    """Whatever is heard: 0.5 to 2 per decision, also when an operator takes 95 % away at once."""
    made, rng = card(name), np.random.default_rng(7)
    at, rates = 0, []
    for round_ in range(400):
        if round_ == 200:
            made.values[0] = LINE // 20
        rtt = int(rng.choice([1, 3_000, 9_000, 50_000, 10_000_000, 2**31]))
        at += max(rtt, 400_000) + 10
        rate, _ = made.feed(0, RTT if round_ else TX, at % 2**32, (at - rtt) % 2**32)
        rates.append(int(rate[0]))
    assert all(after <= 2 * before + 1 for before, after in itertools.pairwise(rates))
    assert all(after >= before // 2 for before, after in itertools.pairwise(rates))
    assert made.counter("STEPS_LIMITED") > 3


def test_fixed_walks_to_its_rate_and_to_another(card: Cards) -> None:
    made, at = card("fixed"), np.arange(0, 2_000_000, 10_000)
    rate, _ = made.feed(0, TX, at, 0)
    assert [rate[at == when][0] for when in (0, 110_000, 220_000, 330_000, 450_000)] == [
        START, 2 * START + 1, 4 * START + 3, 8 * START + 7, LINE,
    ]  # fmt: skip
    made.values[0] = LINE // 20
    rate, _ = made.feed(0, TX, 2_000_000 + at, 0)
    assert sorted(set(rate.tolist()), reverse=True)[-5:] == [LINE // 2, LINE // 4, LINE // 8, LINE // 16, LINE // 20]


def test_numbers_of_answers_go_round_and_windows_still_end(card: Cards) -> None:
    """DCTCP's halves: acknowledged and marked packets, the ends of its window and of CWR; 16 bits each."""
    made, at, ends = card("dctcp"), 1_000, []
    made.feed(0, TX, at, 0)
    for _ in range(12_000):
        made.feed(0, CNP, at + 4_000, 0)
        made.feed(0, RTT, (at + 9_000) % 2**32, at + 1)
        at += 9_001
        ends.append(int(made.contexts[0, 4 + 6]) & 0xFFFF)
    assert made.counter("DECISIONS") == 12_000
    assert max(ends) < 2 * 4096 + 8
    assert all(
        later > before for before, later in itertools.pairwise(ends) if before < 8_000
    )  # each answer ends a window


def test_times_count_from_the_last_request(card: Cards) -> None:
    """DCQCN's timer raises the rate once per 55 us, whatever the clock says, and after seconds as well."""
    made, at = card("dcqcn"), 2**32 - 3_000_000
    made.feed(0, TX, np.arange(at, at + 100_000, 10_000), 0)
    assert made.contexts[0, 0] == LINE
    cut, _ = made.feed(0, CNP, at + 100_000, 0)
    assert cut[0] == LINE // 2
    times = at + 100_000 + np.arange(1_000, 400_000, 1_000)
    rate, _ = made.feed(0, TX, times % 2**32, 0)
    np.testing.assert_allclose(np.diff(times[1:][np.diff(rate) > 0]), 55_000, atol=1_000)
    assert rate[-1] > 0.98 * LINE
    late, _ = made.feed(0, CNP, (at + 3_900_000_000) % 2**32, 0)  # alpha has decayed for seconds
    assert late[0] > 0.98 * LINE
