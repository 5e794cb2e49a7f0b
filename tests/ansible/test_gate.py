"""Answers of a real Prometheus at a gate, and what becomes of them: doubt is never a pass."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from lab_settings import gate as asked
from lab_settings.errors import LabError
from lab_settings.gate import Gate, failures

from tests.ansible.prometheus import needs_prometheus, prometheus
from tests.support.monitoring import free_ports
from tests.support.waiting import PATIENCE, until

TWO = 'label_replace(vector({}), "host", "a", "", "") or label_replace(vector({}), "host", "b", "", "")'


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    (port,) = free_ports(1)
    with prometheus(tmp_path_factory.mktemp("gate") / "prometheus", f"127.0.0.1:{port}"):
        yield f"http://127.0.0.1:{port}/"


@needs_prometheus
@pytest.mark.parametrize(
    ("query", "bounds", "said"),
    [
        ("vector(1)", {"least": 1, "most": 1}, ""),
        ("scalar(vector(3))", {"least": 2}, ""),
        ("vector(1)", {"most": 0}, "it is 1; at most 0 is expected"),
        ("vector(1)", {"least": 2, "most": 3}, "it is 1; at least 2 and at most 3 is expected"),
        (TWO.format(0, 2), {"most": 1}, '{host="b"} is 2; at most 1 is expected'),
        (TWO.format(0, "NaN"), {"most": 1}, '{host="b"} is nan; at most 1 is expected'),
        ("vector(NaN)", {"least": 0}, "it is nan; at least 0 is expected"),
        ("vector(Inf)", {"most": 1e300}, "it is inf; at most 1e+300 is expected"),
        ("sum(testbed_setting_drift)", {"most": 0}, "Prometheus has no such series, so that too little is known"),
        (TWO.format(1, 1), {"least": 1, "series": 3}, "Prometheus has 2 of 3 such series, so that too little is known"),
        (TWO.format(1, 1), {"least": 1, "series": 2}, ""),
    ],
)
def test_each_series_has_to_be_within_the_bounds(url: str, query: str, bounds: dict[str, float], said: str) -> None:
    assert failures(url, [Gate(query, **bounds)]) == ([f"gate {query}: {said}"] if said else [])


@needs_prometheus
def test_a_query_that_is_none_is_refused_with_the_words_of_prometheus(url: str) -> None:
    with pytest.raises(LabError, match=rf"^Prometheus at {re.escape(url)} refuses sum\(: .*parse error"):
        failures(url, [Gate("sum(", most=0)])


@needs_prometheus
def test_a_missed_scrape_is_waited_for_and_what_is_known_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter, port = free_ports(2)
    url = f"http://127.0.0.1:{port}"
    gates = [Gate("phase", least=1)]
    with (
        exporting(exporter, "phase 1\n") as up,
        prometheus(tmp_path / "prometheus", f"127.0.0.1:{port}", targets=[f"127.0.0.1:{exporter}"]),
    ):
        until(lambda: asked.ask(url, "phase"))
        assert "is 1; at most 0" in failures(url, [Gate("phase", most=0, series=2)], PATIENCE)[0]  # at once
        up.clear()
        until(lambda: not asked.ask(url, "phase"))
        assert "no such series" in failures(url, gates)[0]
        monkeypatch.setattr(asked, "ask", and_then(up.set))
        assert failures(url, gates, PATIENCE) == []
        assert up.is_set()


def and_then(done: Callable[[], None]) -> Callable[[str, str], list[tuple[str, float]]]:
    """Prometheus is asked, and only then..."""
    ask = asked.ask

    def once(prometheus: str, query: str) -> list[tuple[str, float]]:
        series = ask(prometheus, query)
        done()
        return series

    return once


@contextmanager
def exporting(port: int, text: str) -> Iterator[threading.Event]:
    """A target with these metrics, which misses scrapes while the event is not set."""
    up = threading.Event()
    up.set()

    class Exporter(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if up.is_set() else 503)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Exporter) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield up
        server.shutdown()


def test_without_prometheus_nothing_passes(tmp_path: Path) -> None:
    gates = [Gate("vector(1)", least=1)]
    (port,) = free_ports(1)
    with pytest.raises(LabError, match=r"does not answer: .*Connection refused.*; nothing passes without it"):
        failures(f"http://127.0.0.1:{port}", gates)
    page = tmp_path / "api/v1/query"  # what a proxy may say instead: 200, and a page for a human
    page.parent.mkdir(parents=True)
    page.write_text("<html>Please log in</html>")

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(tmp_path))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(LabError, match="expected an answer of Prometheus, not: <html>Please log in"):
            failures(f"http://127.0.0.1:{port}", gates)
        server.shutdown()


def test_a_gate_without_bounds_is_none() -> None:
    with pytest.raises(LabError, match="gate vector\\(1\\): any value would pass; give least, most, or both"):
        Gate("vector(1)")
