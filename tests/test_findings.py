"""`make findings`: the tables of docs/findings are those of the runs that are kept, and none is missing."""

from __future__ import annotations

import multiprocessing
import re
import runpy
import shutil
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

import pytest
from testbed_controllers.baselines import evaluate as baselines

from testbed.results.papers import kept
from testbed.results.papers.cells import implemented
from testbed.results.papers.comparison import load, names
from tests.support.checkout import ROOT
from tests.support.commands import command

PAGES = ROOT / "docs/findings"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The pages in a checkout of their own."""
    shutil.copytree(PAGES, tmp_path / "docs/findings")
    (tmp_path / "scripts").mkdir()
    for name in ("findings", "finding_plot", "compact_svg"):
        shutil.copy(ROOT / f"scripts/{name}.py", tmp_path / "scripts")
    return tmp_path


def pages(checkout: Path) -> dict[str, str]:
    return {page.name: page.read_text() for page in (checkout / "docs/findings").glob("*.md")}


def keep(checkout: Path, *names: str) -> None:
    """Leave only these pages: each picture takes a second to be drawn."""
    for page in (checkout / "docs/findings").glob("*.md"):
        if page.name not in names:
            page.unlink()


def script(file: Path, *arguments: Path) -> str:
    """What it prints, started in a fork of this process, which has imported most of what it needs."""
    for module in ("matplotlib.figure", "testbed.runs.reproduce.measure"):
        import_module(module)
    out = file.with_suffix(".out")
    process = multiprocessing.get_context("fork").Process(target=_main, args=(file, arguments, out))
    process.start()
    process.join()
    assert process.exitcode == 0
    return out.read_text()


def _main(file: Path, arguments: tuple[Path, ...], out: Path) -> None:
    sys.argv = [str(file), *map(str, arguments)]
    sys.path.insert(0, str(file.parent))
    with out.open("w") as printed, redirect_stdout(printed):
        runpy.run_path(str(file), run_name="__main__")


def fill(checkout: Path, *runs: Path) -> dict[str, str]:
    script(checkout / "scripts/findings.py", *runs)
    return pages(checkout)


def test_pages_say_what_is_kept(copy: Path) -> None:
    """With one figure changed all pages but its own; with the figure as it is, that one, too.

    A picture is drawn if its figures have changed or it is gone.
    """
    before, tables = pages(copy), copy / "docs/findings/tables"
    file = copy / "docs/findings/results/decc-ablation.csv"
    kept_text = file.read_text()
    head, first, *others = kept_text.splitlines()
    changed = ",".join([*first.split(",")[:6], "5e10", *first.split(",")[7:]])  # its goodput
    file.write_text("\n".join([head, changed, *others]))
    after = fill(copy)
    assert [name for name in before if after[name] != before[name]] == ["decc.md"]  # else: make findings
    file.write_text(kept_text)
    keep(copy, "decc.md")
    kept_picture, changed_picture, gone = (tables / f"decc-{name}.svg" for name in ("at-rest", "osu", "table-4"))
    for picture in (kept_picture, changed_picture):
        picture.write_text("as it was")
    changed_picture.with_suffix(".csv").write_text("other figures")
    gone.unlink()
    assert fill(copy) == {"decc.md": before["decc.md"]}  # else: make findings
    assert kept_picture.read_text() == "as it was"
    assert all(picture.read_text().startswith("<svg") for picture in (changed_picture, gone))


def test_tables_of_constants_are_those_of_the_runs_that_are_kept(copy: Path) -> None:
    for file in ROOT.glob("scripts/tuner_*.py"):
        shutil.copy(file, copy / "scripts")
    made = "\n".join(script(copy / f"scripts/{name}.py") for name in ("tuner_oracle", "tuner_rack", "tuner_reach"))
    said = (PAGES / "pet.md").read_text()
    assert len(made.splitlines()) > 20
    assert [line for line in made.splitlines() if line not in said] == []
    files = {file.name: file.read_text() for file in (copy / "docs/findings/tables").glob("pet-*.csv")}
    assert [name for name, text in files.items() if text != (PAGES / f"tables/{name}").read_text()] == []
    assert "mice, mean: kernel" in files["pet-fct-rack.csv"]


@pytest.mark.parametrize(
    ("of", "name", "row"),
    [
        ("score_seeds", "score-seeds", "evolved,10,"),
        ("baseline_variants", "baseline-variants", '"PPO, entropy 0.1",'),
        ("adpg_range", "adpg-range", "25,30,"),
        ("decc_seeds", "decc-seeds", "trees,packets,"),
    ],
)
def test_a_table_of_seeds_is_that_of_what_is_kept(copy: Path, of: str, name: str, row: str) -> None:
    for file in (ROOT / f"scripts/{of}.py", *ROOT.glob("scripts/tuner_*.py")):
        shutil.copy(file, copy / "scripts")
    made = copy / f"docs/findings/tables/{name}.csv"
    made.unlink()
    script(copy / f"scripts/{of}.py")
    assert made.read_text() == (PAGES / f"tables/{name}.csv").read_text()
    assert f"\n{row}" in made.read_text()
    assert any(f"(tables/{name}.csv)" in page for page in pages(ROOT).values())


def test_constants_that_were_run_stay_when_others_are_kept(copy: Path, tmp_path: Path) -> None:
    oracle = shutil.copy(ROOT / "scripts/tuner_oracle.py", copy / "scripts/tuner_oracle.py")
    file = copy / "docs/findings/results/pet-thresholds.csv"
    before = file.read_bytes()
    script(oracle, tmp_path)  # a folder without runs
    assert file.read_bytes() == before


def test_every_published_table_is_on_one_page() -> None:
    shown = [name for page in pages(ROOT).values() for name in re.findall(r"<!-- ([\w-]+) -->\n\n(?:\||!)", page)]
    assert sorted(one for one in shown if one not in ("agreement", "intervals", "differences")) == names()


@pytest.mark.parametrize("name", names())
def test_every_cell_that_can_be_run_was_run(name: str) -> None:
    comparison = load(name)
    assert implemented(comparison).keys() == comparison.rows.keys()  # no row is "not implemented here"
    found = kept.from_csv(comparison, (PAGES / f"results/{name}.csv").read_text())
    run = {column for column, about in comparison.columns.items() if about.experiment}
    wanted = {(row, column) for row in implemented(comparison) for column in run}
    assert wanted <= set(found.summaries)


def test_each_step_of_deccs_ablation_is_better_than_the_one_before() -> None:
    """Network, compressed, trees: as printed, in all columns, with each seed."""
    comparison = load("decc-ablation")
    found = kept.from_csv(comparison, (PAGES / "results/decc-ablation.csv").read_text())
    for name, metric in comparison.metrics.items():
        sign = 1 if metric.better == "higher" else -1
        for seed in range(1, 7):
            forms = [getattr(found.of(row, "64")[seed], metric.field) for row in comparison.rows]
            assert sorted(forms, key=lambda figure: sign * figure) == forms, (name, seed)
            assert len(set(forms)) == 3


def test_adpgs_baselines_are_of_the_published_class() -> None:
    """Aurora is PL by its queue, with each seed. PPO and REINFORCE are with 8192 flows by losses, not kept."""
    comparison = load("adpg-table-2")
    found = kept.from_csv(comparison, (PAGES / "results/adpg-table-2.csv").read_text())
    for row in ("Aurora", "PPO", "REINFORCE"):
        for column in comparison.columns:
            cell = [
                baselines.Figures(int(column), one.su, one.fr_flows / 100, one.ql_mean, 0.0)
                for one in found.of(row, column).values()
            ]
            assert {one.kind == "PL" for one in cell} == {row == "Aurora"}, (row, column)
    queues = {column: [one.ql_mean for one in found.of("REINFORCE", column).values()] for column in ("4096", "8192")}
    assert 4 * max(queues["4096"]) < min(queues["8192"])  # printed: 22 us, and PL
    assert {one.su < 5 for one in found.of("PPO", "128").values()} == {True}  # idle
    assert {60 > one.su > 45 for one in found.of("REINFORCE", "128").values()} == {True}  # timid: published are 51 %


@pytest.mark.parametrize(
    ("name", "column", "figure", "least", "most"),
    [
        ("decc-osu", "1024", "message_mean", 21e-6, 60e-6),  # s; 1 MiB at 400 Gbit/s takes 21 us
        ("decc-at-rest", "16", "goodput", 0.84 * 400e9, 0.86 * 400e9),  # 95 % less headers and INT
    ],
)
def test_a_run_that_is_made_anew_replaces_the_kept_one_and_no_other(  # noqa: PLR0917 - a case
    copy: Path, tmp_path: Path, name: str, column: str, figure: str, least: float, most: float
) -> None:
    once = tmp_path / f"{name}.yaml"
    once.write_text((ROOT / f"testbed/results/papers/{name}.yaml").read_text().replace("repeats: 6", "repeats: 1"))
    only = ["--row", "HPCC", "--column", column]
    done = command("reproduce", str(once), "--engine", "virtual", *only, "--out", str(tmp_path / f"runs/{name}"))
    assert done.returncode == 0, done.stderr
    file = copy / f"docs/findings/results/{name}.csv"
    before = file.read_text().splitlines()
    (place,) = [number for number, line in enumerate(before) if line.startswith(f"HPCC,{column},1,")]
    before[place] = f"HPCC,{column},1,virtual,clean,1"
    file.write_text("\n".join(before))
    keep(copy)
    fill(copy, tmp_path / "runs")
    after = file.read_text().splitlines()
    made = dict(zip(after[0].split(","), after[place].split(","), strict=True))
    assert least < float(made[figure]) < most
    assert after[:place] + after[place + 1 :] == before[:place] + before[place + 1 :]
