"""`testbed watch` on a pseudo-terminal of a given size."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass, field

from tests.support.waiting import PATIENCE

TESTBED = [sys.executable, "-c", "from testbed.cli.main import main; raise SystemExit(main())"]
HOME = "\x1b[H"  # begins every frame


@dataclass
class Terminal:
    """A command on a terminal; read it to its end with `finish`."""

    process: subprocess.Popen[bytes]
    screen: int
    text: str = ""
    decoder: codecs.IncrementalDecoder = field(default_factory=codecs.getincrementaldecoder("utf-8"))

    @classmethod
    def start(cls, *arguments: str, columns: int = 80, rows: int = 24) -> Terminal:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {
            name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")
        }
        process = subprocess.Popen(
            [*TESTBED, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env={**environment, "TERM": "xterm-256color"},
        )  # fmt: skip
        os.close(theirs)
        return cls(process, ours)

    def read(self) -> bool:
        """Whether there was more."""
        try:
            data = os.read(self.screen, 1 << 16)
        except OSError:  # the other side is closed
            return False
        self.text += self.decoder.decode(data)  # a character may come in two pieces
        return bool(data)

    def read_until(self, text: str) -> None:
        while text not in self.text:
            assert self.read(), f"'{text}' never came: {self.text}"

    def finish(self) -> int:
        while self.read():
            pass
        os.close(self.screen)
        return self.process.wait(timeout=PATIENCE)

    def frames(self) -> list[list[str]]:
        """The lines of every picture, without colours."""
        inside = self.text.partition("\x1b[?1049h")[2].partition("\x1b[?1049l")[0]
        return [plain(frame).splitlines() for frame in inside.split(HOME)[1:] if frame.strip()]

    def after(self) -> str:
        """What stands on the terminal when the command has left."""
        return plain(self.text.rpartition("\x1b[?1049l")[2])


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")
