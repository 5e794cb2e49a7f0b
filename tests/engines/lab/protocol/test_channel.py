"""Messages survive the channel in any pieces, and nothing else is taken for one."""

from __future__ import annotations

import io

import numpy as np
import pytest

from testbed.engines.lab.protocol.channel import Message, Unpacker, pack
from testbed.errors import TestbedError


def test_messages_in_pieces() -> None:
    wire = pack("status", {"time": 0.5}, {"a": np.arange(3), "b": np.array([np.nan])}) + pack("keepalive")
    for size in (1, 7, len(wire)):
        unpacker = Unpacker()
        found: list[Message] = []
        for at in range(0, len(wire), size):
            found += unpacker.feed(wire[at : at + size])
        assert [message.kind for message in found] == ["status", "keepalive"]
        assert found[0].data == {"time": 0.5}
        assert found[0].arrays["a"].tolist() == [0, 1, 2]
        assert np.isnan(found[0].arrays["b"]).all()


@pytest.mark.parametrize("noise", [b"Welcome to lab1!\n", b"[]\n", b'{"kind":1,"data":{},"bytes":0}\n'])
def test_what_a_login_prints_is_no_message(noise: bytes) -> None:
    with pytest.raises(TestbedError, match="something else than messages"):
        list(Unpacker().feed(noise))


def test_objects_are_never_unpickled() -> None:
    sink = io.BytesIO()
    np.savez(sink, evil=np.array([object()], object))
    body = sink.getvalue()
    head = f'{{"kind":"status","data":{{}},"bytes":{len(body)}}}\n'.encode()
    with pytest.raises(TestbedError, match="cannot be read"):
        list(Unpacker().feed(head + body))
