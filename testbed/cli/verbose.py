"""`--verbose`: what testbed's packages log, one line each on stderr.

    01:16:04.512 testbed.engines.kernel: rack built hosts=9 links=9 seconds=0.214

Loggers are the standard library's, one per package; what an event is about is in ``extra``. The run's own processes
are forked after this and inherit it.
"""

from __future__ import annotations

import json
import logging
import sys

from testbed.base.strange import visible

STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}  # what every record has


class KeyValues(logging.Formatter):
    """The message, and then every field of ``extra``."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s.%(msecs)03d %(name)s: %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        # a library that makes records of its own, as Ray does, begins its fields with an underscore
        fields = {key: value for key, value in vars(record).items() if key not in STANDARD and not key.startswith("_")}
        return visible(" ".join([super().format(record), *(f"{key}={_shown(value)}" for key, value in fields.items())]))


def log_to_stderr() -> None:
    """From now on. A second call changes nothing."""
    logger = logging.getLogger("testbed")
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(KeyValues())
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False


def _shown(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    plain = text and not any(character.isspace() or character in '"=' for character in text)
    return text if plain else json.dumps(text, ensure_ascii=False)
