"""`make docs`: the pages as a site; links that lead nowhere are found, and so is what newcomers search."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.support.checkout import ROOT

QUESTIONS = {  # what newcomers ask, and pages that answer it
    "write a controller": {"docs/howto/controllers.html", "docs/start/researcher.html"},
    "what does degraded mean": {"docs/explanation/fidelity.html"},
    "config_db.json": {"docs/howto/switch.html", "docs/start/operator.html"},
    "run without root": {"docs/howto/install.html", "docs/explanation/engines.html", "index.html"},
    "dilation": {"docs/explanation/fidelity.html", "docs/reference/experiment.html", "docs/explanation/engines.html"},
    "ns-3 topology file": {"docs/howto/files.html"},
    "iperf3": {"docs/howto/apps.html"},
    "Grafana": {"docs/howto/monitoring.html"},
    "Kmin Kmax advice": {"docs/howto/advise.html"},
    "BlueField": {"docs/howto/lab.html", "docs/howto/export.html", "docs/howto/runbook.html", "docs/start/nic.html"},
}
RESULT = ".md-search-result__item > a"
PATHS = "links => [...new Set(links.map(link => link.pathname.slice(1)))].slice(0, 3)"


def site(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, root / "scripts/site.py", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of all pages, strictly made: a link or an anchor that leads nowhere is an error."""
    folder = tmp_path_factory.mktemp("whole")
    done = site(ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_every_page_is_there(whole: Path) -> None:
    made = {str(file.relative_to(whole)) for file in whole.glob("**/*.html")}
    pages = [file.relative_to(ROOT).with_suffix(".html") for file in ROOT.glob("docs/**/*.md") if file.stem != "README"]
    assert {str(page) for page in pages} <= made
    assert {"index.html", "docs/adr/index.html", "testbed/controller.py.html"} <= made
    assert (whole / "docs/pictures/live.png").is_file()


def test_search_finds_what_newcomers_ask_and_everybody_can_read_it(whole: Path) -> None:
    pytest.importorskip("playwright")
    from tests.support.browsing import PHONE, chromium, expect, visit

    with served(whole) as address, chromium() as browser:
        for page, scheme in (("start/researcher", "slate"), ("howto/switch", "default")):
            with visit(browser, f"{address}/docs/{page}.html", PHONE, dark=scheme == "slate") as seen:
                assert seen.page.evaluate("document.body.dataset.mdColorScheme") == scheme
                assert seen.barriers() == []
                assert seen.overflow() == 0
                seen.page.evaluate("localStorage.clear()")  # it keeps the scheme
        with visit(browser, f"{address}/docs/reference/experiment.html", PHONE) as seen:  # the widest tables
            assert seen.overflow() == 0
        with visit(browser, f"{address}/index.html") as seen:
            assert seen.barriers() == []
            seen.page.locator(".md-search__input").focus()
            expect(seen.page.locator(".md-search-result__meta")).to_have_text("Type to start searching")
            for question, answers in QUESTIONS.items():
                for asked in ("", question):
                    seen.page.locator(".md-search__input").fill(asked)
                    seen.page.keyboard.press("End")  # it looks when a key is let go
                    expect(seen.page.locator(RESULT).first).to_be_attached(attached=bool(asked))
                found = seen.page.locator(RESULT).evaluate_all(PATHS)
                assert answers & set(found), (question, found)


def test_a_link_that_leads_nowhere_ends_it_and_so_does_a_page_that_is_not_in_the_menu(tmp_path: Path) -> None:
    """The settings are those of all pages; the menu is of two."""
    for folder in ("docs", "scripts"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "scripts/site.py", tmp_path / "scripts")
    settings = (ROOT / "mkdocs.yml").read_text().partition("nav:\n")[0]
    (tmp_path / "mkdocs.yml").write_text(f"{settings}nav: [README.md, docs/racks.md]\n")
    (tmp_path / "README.md").write_text("# Start\n")
    (tmp_path / "docs/racks.md").write_text("[away](nowhere.md), [up](../README.md#no-such-heading)\n")
    (tmp_path / "docs/forgotten.md").write_text("Nobody finds me.\n")
    done = site(tmp_path, tmp_path / "build")
    assert done.returncode == 1
    for said in (
        "'nowhere.md'",
        "anchor '#no-such-heading'",
        'not included in the "nav" configuration',
        "- docs/forgotten.md",
    ):
        assert said in done.stderr
