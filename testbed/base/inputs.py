"""Files that a run reads besides the experiment file and the plugins' code: which they were, by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from testbed.errors import BadInput

Read = TypeVar("Read")
KEPT = 8  # files


def once(read: Callable[[Path], Read]) -> Callable[[Path], Read]:
    """A reader that reads a file again only when its content is another: an experiment is resolved several times."""

    @lru_cache(KEPT)
    def known(file: Path, _sha256: str) -> Read:
        return read(file)

    @wraps(read)
    def found(file: Path) -> Read:
        return known(file, digest(file.read_bytes()))

    return found


def digest(content: bytes) -> str:
    """SHA-256, as `sha256sum` prints it."""
    return hashlib.sha256(content).hexdigest()


class Input(BaseModel):
    """One file: a trace, a size distribution, a policy."""

    model_config = ConfigDict(frozen=True)

    key: str  # what names it in the experiment, such as traffic.parts.0.file or controller.policy
    file: Path
    sha256: str
    form: str = ""  # what a file of another tool was taken for

    @classmethod
    def of(cls, key: str, file: Path, form: str = "") -> Self:
        """A file as it is now. Raises BadInput if it cannot be read."""
        try:
            return cls(key=key, file=file, sha256=digest(file.read_bytes()), form=form)
        except OSError as error:
            raise BadInput(f"{key}: cannot read {file}: {error.strerror}") from None

    def within(self, key: str) -> Self:
        """The same, named by a block of which its key is a part."""
        return self.model_copy(update={"key": f"{key}.{self.key}"})


def own(inputs: Iterable[Input], experiment: Mapping[str, Any]) -> dict[str, str]:
    """Digests of the files that an experiment, as resolved, names by their path: with others it is another experiment.

    Other files come with the testbed or with a plugin, whose versions are recorded anyway.
    """
    return {f"{one.key}.sha256": one.sha256 for one in inputs if _named(experiment, one.key) == one.file}


def _named(experiment: Mapping[str, Any], key: str) -> Path | None:
    value: Any = experiment
    for part in key.split("."):
        value = value[int(part)] if isinstance(value, list) else value.get(part)
    return Path(value).expanduser() if isinstance(value, str) else None
