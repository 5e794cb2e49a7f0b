"""What a run tells its readers on ``/live``, read over HTTP: server-sent events, one JSON object each."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

from testbed.base.strange import all_visible
from testbed.errors import BadInput, TestbedError

ANSWER_SECONDS = 20.0  # a run answers at once, except while it measures how fast the machine is


class Event(NamedTuple):
    """One event: ``scene``, ``stage``, ``update`` or ``end``."""

    name: str
    data: dict[str, Any]


def listen(host: str, port: int) -> Iterator[Event]:
    """All events of the run at this address, from its beginning to its ``end``.

    Raises BadInput if there is no run, and TestbedError if the connection breaks before the end.
    """
    where = f"{f'[{host}]' if ':' in host else host}:{port}"
    connection = http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS)
    return _until_the_end(connection, _connect(connection, where), where)


def _until_the_end(
    connection: http.client.HTTPConnection, response: http.client.HTTPResponse, where: str
) -> Iterator[Event]:
    with closing(connection), closing(response):
        try:
            for event in _parse(response):
                yield event
                if event.name == "end":
                    return
        except (OSError, http.client.HTTPException):
            pass
        except ValueError:
            raise TestbedError(f"what {where} sends on /live is not what a run of this testbed sends") from None
        raise TestbedError(f"the connection to {where} broke before the run told its end: it was killed or stopped")


def _connect(connection: http.client.HTTPConnection, where: str) -> http.client.HTTPResponse:
    try:
        connection.connect()
    except OSError as error:
        raise BadInput(
            f"no run at {where} ({error.strerror or error}), start one with 'testbed run EXPERIMENT', "
            "or name the address that it printed: testbed watch HOST:PORT"
        ) from None
    socket = connection.sock  # the connection gives it away with the response
    try:
        connection.request("GET", "/live", headers={"Accept": "text/event-stream"})
        response = connection.getresponse()
    except TimeoutError:
        raise BadInput(f"{where} did not answer within {ANSWER_SECONDS:.0f} s: is it a run?") from None
    except (OSError, http.client.HTTPException):
        raise BadInput(f"{where} is not a run: it does not speak HTTP, or closed the connection") from None
    kind = response.headers.get_content_type()
    if response.status != http.client.OK or kind != "text/event-stream":
        raise BadInput(f"{where} is not a run: its /live answered {response.status} {response.reason} ({kind})")
    socket.settimeout(None)  # a stage of a large rack may be silent for long
    return response


def _parse(response: http.client.HTTPResponse) -> Iterator[Event]:
    """Raises ValueError on what is no event of ours."""
    name = data = ""
    for line in response:
        field, _, value = line.decode().rstrip("\r\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data = value
        elif not field and name:
            told = all_visible(json.loads(data))
            if not isinstance(told, dict):
                raise ValueError(f"event {name} is not an object")
            yield Event(name, told)
            name = data = ""
