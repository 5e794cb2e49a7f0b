"""What counts as a repeat, and what variants are called."""

from __future__ import annotations

from pathlib import Path

from testbed.results.compare.runs import load
from testbed.results.compare.variants import Variant, distinguish, natural, variants
from testbed.results.manifest import PluginEntry
from tests.support.folders import resolved, results

ADPG = resolved("incast-8", "adpg", ())


def grouped(folder: Path) -> dict[str, list[int]]:
    found = variants(load([folder], with_curves=False))
    return {one.name: [run.manifest.seed for run in one.runs] for one in found}


def test_other_seeds_are_repeats(tmp_path: Path) -> None:
    for number, seed in enumerate((3, 1, 2)):
        results(tmp_path / str(number), "dcqcn", seed)
    results(tmp_path / "other", "swift", 1)
    assert grouped(tmp_path) == {"dcqcn": [1, 2, 3], "swift": [1]}


def test_names_say_what_differs_and_no_more(tmp_path: Path) -> None:
    for senders in (64, 8):
        for controller in ("swift", "dcqcn"):
            results(tmp_path / f"{controller}{senders}", controller, 1, f"traffic.senders={senders}")
    # rack.hosts differs as well, but says the same; 8 comes before 64
    assert list(grouped(tmp_path)) == ["dcqcn, senders=8", "swift, senders=8", "dcqcn, senders=64", "swift, senders=64"]


def test_options_make_another_contender_in_the_same_scenario(tmp_path: Path) -> None:
    results(tmp_path / "a", "dcqcn", 1)
    results(tmp_path / "b", "dcqcn", 1, "controller.g=0.01")
    results(tmp_path / "c", "dcqcn", 1, "tuner.pmax=0.5")
    found = variants(load([tmp_path], with_curves=False))
    assert {one.scenario for one in found} == {""}
    assert [one.name for one in found] == [
        "dcqcn, g=0.00390625, pmax=0.2",
        "dcqcn, g=0.01, pmax=0.2",
        "dcqcn, g=0.00390625, pmax=0.5",
    ]


def test_who_shares_the_rack_with_others_is_told_by_them(tmp_path: Path) -> None:
    for other in ("hpcc", "swift"):
        results(tmp_path / other, "dcqcn", 1, f"controllers=[{{name: {other}, of: {{flows: [1, 3]}}}}]")
    assert list(grouped(tmp_path)) == ["dcqcn, beside=hpcc", "dcqcn, beside=swift"]


def test_other_experiments_are_told_by_name(tmp_path: Path) -> None:
    results(tmp_path / "a", experiment="incast-8")
    results(tmp_path / "b", experiment="incast-2")
    assert list(grouped(tmp_path)) == ["dcqcn, incast-2", "dcqcn, incast-8"]


def test_a_file_with_another_content_makes_no_repeat(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("src,dst,bytes,start\nh1,h2,1000,0\n")
    mine = tmp_path / "mine.yaml"
    mine.write_text("controller: dcqcn\ntraffic: {pattern: trace, file: mine.csv}\n")
    (read,) = resolved(str(mine), "dcqcn", ()).inputs()
    results(tmp_path / "runs/a", experiment=str(mine))
    results(tmp_path / "runs/b", seed=2, experiment=str(mine))
    changed = read.model_copy(update={"sha256": "0" * 64})
    results(tmp_path / "runs/c", experiment=str(mine), manifest={"inputs": [changed]})
    assert grouped(tmp_path / "runs") == {"dcqcn, sha256=0000000": [1], f"dcqcn, sha256={read.sha256[:7]}": [1, 2]}

    results(tmp_path / "shipped/a", "adpg")
    moved = [one.model_copy(update={"file": Path("/elsewhere") / one.file.name}) for one in ADPG.inputs()]
    results(tmp_path / "shipped/b", "adpg", seed=2, manifest={"inputs": moved})
    assert grouped(tmp_path / "shipped") == {"adpg": [1, 2]}


def test_changed_code_is_another_contender(tmp_path: Path) -> None:
    plugin = resolved("incast-8", "dcqcn", ()).controller
    changed = PluginEntry.of(plugin).model_copy(update={"sha256": "0" * 64})
    results(tmp_path / "a")
    results(tmp_path / "b", manifest={"controller": changed})
    assert len(grouped(tmp_path)) == 2
    assert "dcqcn, file=0000000" in grouped(tmp_path)


def test_a_dilation_that_was_measured_for_each_run_makes_no_variants(tmp_path: Path) -> None:
    for seed, dilation in ((1, 410), (2, 430)):
        results(tmp_path / str(seed), "dcqcn", seed, f"time.dilation={dilation}", manifest={"speed": {"x": 1}})
    assert grouped(tmp_path) == {"dcqcn": [1, 2]}
    results(tmp_path / "3", "dcqcn", 3, "time.dilation=410")
    assert len(grouped(tmp_path)) == 2


def test_the_fewest_keys_and_unambiguous_ones() -> None:
    described = [{"a.x": "1", "b.x": "1", "c": "7"}, {"a.x": "1", "b.x": "2", "c": "7"}, {"a.x": "2", "b.x": "1"}]
    assert distinguish(described) == ["a.x=1, b.x=1", "a.x=1, b.x=2", "a.x=2, b.x=1"]
    assert distinguish([{"c": "1"}, {"c": "1"}]) == ["", ""]
    long = [{"flows": "x" * 100 + end} for end in "ab"]
    names = distinguish(long)
    assert len(set(names)) == 2
    assert max(map(len, names)) < 20


def test_natural_order() -> None:
    assert sorted(["n=64", "n=8", "n=8, m=2", "", "m"], key=natural) == ["", "m", "n=8", "n=8, m=2", "n=64"]


def test_the_degraded_are_counted(tmp_path: Path) -> None:
    results(tmp_path / "a", "dcqcn", 1)
    results(tmp_path / "b", "dcqcn", 2, degraded=True)
    (one,) = variants(load([tmp_path], with_curves=False))
    assert isinstance(one, Variant)
    assert one.degraded == 1
