"""Events as a reader of a run hears them."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator


def events(response: http.client.HTTPResponse) -> Iterator[tuple[str, object]]:
    name = ""
    for line in response:
        key, _, value = line.decode().rstrip("\n").partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            yield name, json.loads(value)
