from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse

import pytest

from testbed.base.web import Handler, Server, fingerprint
from tests.support.waiting import PATIENCE


class Answering(Handler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()


@contextmanager
def served(address: str) -> Iterator[Server]:
    server = Server(address, 0, Answering)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def asked(server: Server, hosts: list[str], method: str = "GET", address: str = "127.0.0.1") -> HTTPResponse:
    """The answer to a request with these ``Host`` headers; ``{}`` in them is the server's port."""
    connection = HTTPConnection(address, server.server_port, timeout=PATIENCE)
    connection.putrequest(method, "/", skip_host=True)
    for host in hosts:
        connection.putheader("Host", host.format(server.server_port))
    connection.endheaders()
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


@pytest.mark.parametrize("name", ["127.0.0.1:{}", "localhost:{}", "LocalHost:{}", "[::1]:{}"])
def test_on_loopback_a_server_answers_its_own_names(name: str) -> None:
    with served("127.0.0.1") as server:
        assert asked(server, [name]).status == 200


@pytest.mark.parametrize(
    "hosts",
    [
        ["rebound.example:{}"], ["rebound.example"], ["127.0.0.1"], ["localhost:1"], ["localhost.rebound.example:{}"],
        ["127.0.0.1:{}@rebound.example"], ["127.0.0.2:{}"], [""], [], ["127.0.0.1:{}", "rebound.example:{}"],
    ],
)  # fmt: skip
def test_and_no_others(hosts: list[str]) -> None:
    with served("127.0.0.1") as server:
        assert asked(server, hosts).status == 403
        assert asked(server, hosts, "POST").status == 403


def test_another_loopback_address_is_a_name_of_its_server() -> None:
    with served("127.0.0.2") as server:
        assert asked(server, ["127.0.0.2:{}"], address="127.0.0.2").status == 200
        assert asked(server, ["rebound.example:{}"], address="127.0.0.2").status == 403


def test_the_name_that_it_was_given_is_one_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getfqdn", lambda name: name)
    with served("127.0.0.1") as server:
        server.host = "MyRack"
        assert asked(server, ["myrack:{}"]).status == 200


def test_who_listens_everywhere_answers_anybody_but_over_loopback() -> None:
    with served("0.0.0.0") as server:
        assert asked(server, ["rebound.example:{}"]).status == 403
    with served("::ffff:127.0.0.1") as server:
        assert asked(server, ["rebound.example:{}"]).status == 403


def test_every_answer_says_what_browsers_keep_from() -> None:
    with served("127.0.0.1") as server:
        for response in (asked(server, ["localhost:{}"]), asked(server, ["rebound.example"])):
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert response.headers["Referrer-Policy"] == "no-referrer"
            assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
            assert "Access-Control-Allow-Origin" not in response.headers


def test_a_fingerprint_is_what_browsers_compute() -> None:
    assert fingerprint("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"  # of nothing, as everybody has it
