from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from testbed.base.web import Page
from testbed.errors import BadInput
from testbed.live import page
from testbed.live import server as live
from testbed.live.edit import Edited
from testbed.live.server import Edits, LiveServer, listen
from tests.live.streams import events
from tests.support.waiting import PATIENCE, until


@pytest.fixture
def server() -> Iterator[LiveServer]:
    made = LiveServer("127.0.0.1", 0)
    made.start()
    yield made
    made.close()


@contextmanager
def reading(server: LiveServer) -> Iterator[Iterator[tuple[str, object]]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    connection.request("GET", "/live")
    with closing(connection):
        yield events(connection.getresponse())


def get(server: LiveServer, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    with closing(connection):
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()


def post(server: LiveServer, body: bytes, **headers: str) -> tuple[int, dict[str, object]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    with closing(connection):
        connection.request("POST", "/edit", body, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def test_only_who_has_the_token_of_a_run_that_allows_it_may_edit(server: LiveServer) -> None:
    asked: list[dict[str, object]] = []

    def edit(settings: dict[str, object]) -> Edited:
        asked.append(settings)
        if "seed" in settings:
            raise BadInput("'seed' cannot change")
        return Edited(1, 2e-3, "set kmin=1 kB")

    body = json.dumps({"set": {"kmin": "1 kB"}}).encode()
    told = {"problem": "this run takes no edits here: it needs --allow-edits"}
    assert post(server, body, **{"X-Token": "right"}) == (403, told)
    server.edits = Edits("right", edit)
    assert [post(server, body, **{"X-Token": one})[0] for one in ("", "wrong", "rightly", "r\xe4")] == [403] * 4
    assert post(server, body)[0] == 403
    assert asked == []
    assert post(server, body, **{"X-Token": "right"}) == (200, {"at": 2e-3, "what": "set kmin=1 kB"})
    for wrong, says in ((b'{"set": {"seed": 3}}', "'seed' cannot change"), (b"{", "of another version")):
        status, answer = post(server, wrong, **{"X-Token": "right"})
        assert status == 400
        assert says in str(answer["problem"])
    assert post(server, b"", **{"X-Token": "right", "Content-Length": "99999999"})[0] == 400
    assert asked == [{"kmin": "1 kB"}, {"seed": 3}]


def test_readers_hear_events_as_they_come_and_latecomers_all_of_them(server: LiveServer) -> None:
    server.publish("scene", {"experiment": "made"})
    with reading(server) as early:
        assert next(early) == ("scene", {"experiment": "made"})
        server.publish("update", {"time": 1})
        assert next(early) == ("update", {"time": 1})
        with reading(server) as late:
            assert [next(late) for _ in range(2)] == [("scene", {"experiment": "made"}), ("update", {"time": 1})]
            server.publish("end", {"verdict": "clean"})
            assert next(early) == next(late) == ("end", {"verdict": "clean"})


def test_clients_that_go_before_they_have_their_answer_are_not_told_of(
    server: LiveServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.page = Page(bytes(100_000_000), "")  # more than any socket holds
    before = threading.active_count()
    with socket.create_connection(("127.0.0.1", server.server_port)) as client:
        client.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
        client.recv(1)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    until(lambda: threading.active_count() == before)
    assert capsys.readouterr().err == ""


def test_the_end_is_heard_although_the_server_closes_at_once() -> None:
    server = LiveServer("127.0.0.1", 0)
    server.start()
    with reading(server) as reader:
        server.publish("scene", {})
        assert next(reader)[0] == "scene"
        server.publish("end", {"verdict": "clean"})
        server.close()
        assert list(reader) == [("end", {"verdict": "clean"})]


def test_a_scrape_that_is_under_way_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "CLOSING_SECONDS", PATIENCE)
    server, asked, go = LiveServer("127.0.0.1", 0), threading.Event(), threading.Event()

    def collect() -> Iterator[None]:
        asked.set()
        go.wait(PATIENCE)
        yield from ()

    monkeypatch.setattr(server.exporter, "collect", collect)
    server.start()
    scraping = threading.Thread(target=get, args=(server, "/metrics"))
    scraping.start()
    assert asked.wait(PATIENCE)
    closing = threading.Thread(target=server.close)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive()
    go.set()
    for thread in (scraping, closing):
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_a_long_run_keeps_its_scene_and_the_newest_updates(server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_EVENTS", 10)
    server.publish("stage", {})
    server.publish("scene", {})
    for number in range(20):
        server.publish("update", {"time": number})
    with reading(server) as reader:
        told = [next(reader) for _ in range(10)]
        assert [name for name, _ in told[:2]] == ["stage", "scene"]
        assert [data for _, data in told[2:]] == [{"time": number} for number in range(12, 20)]
        server.publish("update", {"time": 20})
        assert next(reader) == ("update", {"time": 20})


def test_a_reader_that_goes_away_disturbs_nobody(server: LiveServer) -> None:
    server.publish("scene", {"experiment": "x" * 1000})
    with reading(server) as reader:
        next(reader)
    for number in range(100):
        server.publish("update", {"time": number, "filling": "x" * 10_000})
    assert get(server, "/metrics")[0] == 200


def test_paths(server: LiveServer) -> None:
    assert get(server, "/")[0] == 404
    assert "--ui" in get(server, "/favicon.ico")[1]
    server.page = Page(b"<!doctype html>", "")
    assert get(server, "/?theme=dark") == (200, "<!doctype html>")


@pytest.mark.parametrize("path", ["/", "/live", "/metrics", "/other"])
def test_no_web_site_reads_a_run_through_a_name_of_its_own(server: LiveServer, path: str) -> None:
    server.page = page.page()
    server.publish("scene", {"experiment": "secret"})
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    with closing(connection):
        connection.request("GET", path, headers={"Host": f"rebound.example:{server.server_port}"})
        response = connection.getresponse()
        assert response.status == 403
        assert "secret" not in response.read().decode()


def test_the_page_runs_its_own_script_only_and_what_is_no_page_none(server: LiveServer) -> None:
    server.page = page.page()
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    with closing(connection):  # and all over one connection
        policies = []
        for path in ("/", "/metrics", "/"):
            connection.request("GET", path)
            response = connection.getresponse()
            response.read()
            policies.append(response.headers["Content-Security-Policy"])
    assert policies[0] == policies[2] == f"{page.page().policy}; frame-ancestors 'none'"
    assert "script-src" not in policies[1]


def test_two_runs_at_once_take_different_ports_by_default() -> None:
    first, second = listen(None), listen(None)
    try:
        assert first.url != second.url
    finally:
        for one in (first, second):
            one.server_close()


def test_a_server_that_never_started_closes() -> None:
    made = LiveServer("127.0.0.1", 0)
    closer = threading.Thread(target=made.close)
    closer.start()
    closer.join(timeout=PATIENCE)
    assert not closer.is_alive()


def test_an_address_in_use_is_bad_input(server: LiveServer) -> None:
    with pytest.raises(BadInput, match=r"already in use; name another HOST:PORT, or 'none'"):
        listen(f"127.0.0.1:{server.server_port}")


@pytest.mark.parametrize("address", ["9464", "localhost:", ":9464", "localhost:http", "127.0.0.1:65536", ""])
def test_what_is_no_address_is_bad_input(address: str) -> None:
    with pytest.raises(BadInput, match=r"expected HOST:PORT such as 127\.0\.0\.1:9464, or 'none'"):
        listen(address)


def test_an_unknown_host_is_bad_input() -> None:
    with pytest.raises(BadInput, match="no-such-host"):
        listen("no-such-host.invalid:9464")


def test_ipv6() -> None:
    made = LiveServer("::1", 0)
    assert made.url == f"http://[::1]:{made.server_port}"
    made.close()
