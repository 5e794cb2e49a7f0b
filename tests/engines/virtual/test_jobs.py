"""Jobs on the virtual engine beside closed forms: what the network adds follows by hand."""

from __future__ import annotations

import pytest

from testbed.results.figures.jobs import JobFigures
from tests.engines.virtual.rings import MIB, bus_bandwidth, found
from tests.support.simulated import measured
from tests.support.theory import HEADERS, LINE, PROPAGATION, WIRE

SLOT = WIRE * 8 / LINE
ONE_WAY = PROPAGATION / 2 + 2 * SLOT  # of one packet


def job(traffic: str, duration: str = "1 ms") -> JobFigures:
    text = (
        f"traffic: {{{traffic}, payload: 1000 B}}\ncontroller: {{name: fixed, rate: 100 Gbit/s}}\n"
        f"time: {{duration: {duration}, warmup: 0}}\nrecord: {{interval: 20 us}}\n"
    )
    (one,) = measured(text, controller="").jobs
    return one


@pytest.mark.parametrize(("ranks", "mebibytes"), [(8, 1), (8, 16), (16, 4), (32, 1), (32, 4)])
def test_bus_bandwidth_of_a_ring_is_the_closed_form(ranks: int, mebibytes: int) -> None:
    assert found(ranks, mebibytes) == pytest.approx(bus_bandwidth(ranks, mebibytes * MIB), rel=0.01)


@pytest.mark.parametrize(("algorithm", "steps"), [("ring", 14), ("halving-doubling", 6), ("tree, chunks: 1", 2 * 3)])
def test_a_small_operation_takes_one_way_times_alone(algorithm: str, steps: int) -> None:
    """Parts of a single packet: rank 7 of 8 is three links of the tree from rank 0."""
    one = job(f"pattern: allreduce, ranks: 8, size: 8 B, algorithm: {algorithm}, iterations: 5, compute: 3 us")
    assert one.iterations == 5
    step = PROPAGATION / 2 + 2 * (WIRE - 999) * 8 / LINE
    assert one.communication == pytest.approx(steps * step, rel=0.01)
    assert one.iteration == pytest.approx(3e-6 + steps * step, rel=0.01)
    if "tree" not in algorithm:  # whose root has the sum when it is half done
        assert one.exposed == pytest.approx(one.communication, rel=0.01)
        assert one.straggler == pytest.approx(1, abs=1e-3)


FRAME = WIRE + HEADERS  # a packet, and an acknowledgement of the other direction's, on each line
BIG = 4_000_000


@pytest.mark.parametrize(
    ("pattern", "sent"),  # by the rank that sends most, in buffers
    [
        ("allreduce, ranks: 8, algorithm: direct", 2 * 7 / 8),
        ("allreduce, ranks: 8, algorithm: halving-doubling", 2 * 7 / 8),
        ("allreduce, ranks: 8, algorithm: hierarchical, group: 4", 2 * 7 / 8),
        ("allreduce, ranks: 8, algorithm: ring, channels: 4", 2 * 7 / 8),
        ("allgather, ranks: 8, algorithm: direct", 7 / 8),
        ("reduce-scatter, ranks: 8, algorithm: direct", 7 / 8),
    ],
)
def test_a_large_operation_fills_the_lines(pattern: str, sent: float) -> None:
    """Bus bandwidth: each line carries what a rank sends, and acknowledgements of what it receives."""
    one = job(f"pattern: {pattern}, size: {BIG} B, iterations: 1", "3 ms")
    full = sent * BIG / 1000 * FRAME * 8 / LINE
    assert full <= one.communication <= 1.01 * full + 14 * ONE_WAY  # a way per step


@pytest.mark.parametrize("pattern", ["broadcast", "reduce"])
def test_a_full_chain_passes_a_chunk_in_the_time_of_a_chunk(pattern: str) -> None:
    """However long it takes to fill; nccl-tests' factor is 1."""
    short, long = (
        job(f"pattern: {pattern}, ranks: 8, chunks: {chunks}, size: {64 * chunks} kB, iterations: 1", "4 ms")
        for chunks in (128, 192)
    )
    assert long.communication - short.communication == pytest.approx(64 * 64 * FRAME * 8 / LINE, rel=0.01)
    assert long.bus_bandwidth == long.algorithm_bandwidth


def test_two_trees_carry_twice_the_buffer_where_one_carries_three_times() -> None:
    """A rank inside a tree sends up, and twice down; of two trees it is inside one, and each has half of the buffer."""
    one, two = (
        job(f"pattern: allreduce, ranks: 16, algorithm: {name}, chunks: 64, size: 4096 kB, iterations: 1", "4 ms")
        for name in ("tree", "double-tree")
    )
    buffer = 4096 * FRAME * 8 / LINE
    assert 2 * buffer <= two.communication <= 1.15 * 2 * buffer
    assert one.communication >= 3 * buffer


@pytest.mark.parametrize(("algorithm", "sent", "links", "within"), [("tree", 3, 3, 0.02), ("double-tree", 2, 4, 0.01)])
def test_trees_carry_the_buffer_in_the_time_of_their_busiest_line(
    algorithm: str, sent: int, links: int, within: float
) -> None:
    """Of small chunks: the last one is behind by its way up and down, ``links`` each."""
    chunks, size = 1024, 4_096_000
    shape = f"ranks: {2**links}, algorithm: {algorithm}, chunks: {chunks}"
    one = job(f"pattern: allreduce, {shape}, size: {size} B, iterations: 1", "2 ms")
    buffer = size / 1000 * FRAME * 8 / LINE
    filling = 2 * links * (ONE_WAY + buffer / chunks)
    assert one.communication == pytest.approx(sent * buffer + filling, rel=within)


def test_a_hierarchy_goes_by_nvlink_and_by_its_rail() -> None:
    """2 (n - 1) copies of size / n in a server, and a ring of size / n among the likes."""
    text = """
rack: { kind: rail-optimised, servers: 4, nics: 4, nvlink: { rate: 1 Tbit/s, delay: 2 us } }
traffic: { pattern: allreduce, ranks: 16, size: 16 MB, algorithm: hierarchical, group: 4,
           iterations: 1, payload: 1 kB }
controller: { name: fixed, rate: 100 Gbit/s }
time: { duration: 2 ms, warmup: 0 }
"""
    (one,) = measured(text, controller="").jobs
    inside = 6 * (2e-6 + 8 * 4e6 / 1e12)
    rail = 6 * (1000 * FRAME * 8 / LINE + ONE_WAY)
    assert one.communication == pytest.approx(inside + rail, rel=0.01)


def test_a_slower_rank_makes_all_wait() -> None:
    usual, slow = (
        job(f"pattern: allreduce, ranks: 4, size: 4 kB, compute: 20 us, iterations: 3{more}")
        for more in ("", ", slower: {2: 1.5}")
    )
    assert slow.iteration - usual.iteration == pytest.approx(10e-6, rel=0.01)


def test_bandwidths_are_defined_as_nccl_tests_does() -> None:
    factors = {"allreduce": 2 * 3 / 4, "allgather": 3 / 4, "reduce-scatter": 3 / 4, "alltoall": 3 / 4}
    for pattern, factor in factors.items():
        one = job(f"pattern: {pattern}, ranks: 4, size: 400 kB, iterations: 1")
        assert one.bus_bandwidth == pytest.approx(factor * one.algorithm_bandwidth)
        assert one.algorithm_bandwidth == pytest.approx(8 * 400e3 / one.communication)


def test_overlapped_buckets_expose_only_the_last_one() -> None:
    """Two ranks, buckets of two parts: a bucket is 2 steps of 25 packets, shorter than the next computing."""
    one = job("pattern: training, ranks: 2, size: 200 kB, buckets: 4, forward: 20 us, backward: 80 us, iterations: 3")
    step = 25 * SLOT * (1 + 78 / WIRE) + ONE_WAY - SLOT
    assert one.exposed == pytest.approx(2 * step, rel=0.03)
    assert one.iteration == pytest.approx(100e-6 + 2 * step, rel=0.01)
    alone = job("pattern: training, ranks: 2, size: 200 kB, buckets: 1, forward: 20 us, backward: 80 us, iterations: 3")
    assert alone.exposed == pytest.approx(2 * (step + 75 * SLOT * (1 + 78 / WIRE)), rel=0.03)


def test_a_pipeline_fills_and_drains() -> None:
    """(m + p - 1) micro-batches forward and back on the longest way, and messages where they change stages."""
    times = "forward: 20 us, backward: 40 us"
    one = job(f"pattern: pipeline, ranks: 4, size: 1 kB, microbatches: 6, {times}, iterations: 2", "2 ms")
    assert one.iterations == 2
    least = (6 + 4 - 1) * 60e-6
    assert least < one.iteration < least + 2 * (6 + 4) * ONE_WAY
    # A stage begins later than the one before, and is done earlier, by a micro-batch and its message.
    assert one.exposed == pytest.approx(one.iteration - 1.5 * (60e-6 + 2 * ONE_WAY) - 6 * 60e-6, rel=0.05)


def test_the_popular_rank_makes_the_others_wait() -> None:
    even = job("pattern: alltoall, ranks: 8, size: 800 kB, iterations: 2")
    skewed = job("pattern: alltoall, ranks: 8, size: 800 kB, skew: 1, iterations: 2")
    # Its port carries 7 messages of a share 1 / H(8) of the buffer, and not of 1 / 8.
    share = 1 / sum(1 / k for k in range(1, 9))
    assert skewed.communication == pytest.approx(7 * share * 800 * SLOT, rel=0.05)
    assert skewed.communication / even.communication == pytest.approx(8 * share, rel=0.1)


def test_what_was_not_done_is_counted() -> None:
    one = job("pattern: allreduce, ranks: 4, size: 4 MB, iterations: 3", "1.5 ms")
    assert (one.iterations, one.unfinished) == (2, 1)
