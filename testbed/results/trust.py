"""Whose code a result may run: what is installed, and files of the user's own that are as they were then.

Commands of its apps run nowhere unasked: nobody can tell whose they are.

A result can come from anybody, and names plugins by their path, or brings them along. A file is the user's own if it is
where the result says that it was, in no result, and of the user; and the code that would run must be the same. Anything
else is a stranger's, and runs only if the user says that it may.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import Any

from testbed.base.code import digest, sources
from testbed.errors import BadInput
from testbed.experiment.apps import App
from testbed.registry import is_path
from testbed.results.brought import FOLDER
from testbed.results.folder import MANIFEST
from testbed.results.manifest import Manifest

READ = "read it; if it may run here with your rights, say --trust (in Python: trust=True)"
KINDS = ("controller", "tuner", "routing", "receiver")


@dataclass(frozen=True)
class Guard:
    """Asked about plugins by their names in an experiment, before any is loaded."""

    name: str  # of the result, as the user gave it
    folder: Path
    digests: frozenset[str]  # of the plugins, as it recorded them
    originals: Mapping[Path, str] = field(default_factory=dict)  # of the copies in it: where they were
    named: frozenset[str] | None = None  # by the result, the user named others; None: all are the result's
    trusted: bool = False

    @classmethod
    def of(cls, name: Path, run: Path, manifest: Manifest, held: Mapping[str, Any], *, trusted: bool) -> Guard:
        """That of a results folder; ``held`` is its experiment as it is found here."""
        plugins = [manifest.controller, *manifest.controllers, *([manifest.tuner] if manifest.tuner else [])]
        copies = {(run / FOLDER / copy).resolve(): path for path, copy in manifest.files.items()}
        digests = frozenset(one.sha256 for one in plugins)
        return cls(str(name), run.resolve(), digests, copies, frozenset(names(held)), trusted)

    def admit(self, plugins: Iterable[str], apps: Sequence[App] = ()) -> None:
        """Raise BadInput if any of them would be a stranger's code."""
        if self.trusted:
            return
        if apps:
            told = [f"{app.name} on {', '.join(app.hosts)}:\n{indent(app.run.rstrip(), '  ')}" for app in apps]
            commands = indent("\n".join(told), "  ")  # whatever they say, it is seen to be theirs
            raise BadInput(f"{self.name} would run these commands as root:\n{commands}\n{READ}")
        asked = (one for one in plugins if is_path(one) and (self.named is None or one in self.named))
        files = {Path(one.partition(":")[0]).expanduser().resolve(): None for one in asked}
        strange = [line for file in files if file.exists() for line in self._strange(file)]
        if strange:
            raise BadInput(
                "\n".join([f"{self.name} would run code that is neither installed nor a file of yours:", *strange])
                + f"\n{READ}"
            )

    def _strange(self, file: Path) -> Iterator[str]:
        now, original = digest(file), self.originals.get(file)
        own = Path(original or file)
        if original is None:
            same, whence = now in self.digests, "named by its path"
            changed = "not the file that it was"
        else:
            same, whence = own.exists() and digest(own) == now, f"a copy of {original}"
            changed = "which is another file now" if own.exists() else "which is not there"
        if not (same and self._is_own(own)):
            yield f"  {file} ({whence}{'' if same else f', {changed}'}), SHA-256 {now}"

    def _is_own(self, file: Path) -> bool:
        """Of the user, and neither in this result nor in another, which a stranger may know the place of."""
        if not file.is_absolute() or file.name == "__init__.py":  # which runs what is beside it, too
            return False
        file = file.resolve()
        in_result = file.is_relative_to(self.folder) or any((one / MANIFEST).exists() for one in [*file.parents][:2])
        owners = {str(one.stat().st_uid) for one in (file, *sources(file))}
        return not in_result and owners <= {str(os.geteuid()), "0", os.environ.get("SUDO_UID")}


def names(experiment: Mapping[str, Any]) -> Iterator[str]:
    """What an experiment calls its plugins."""
    chosen = [experiment.get(kind) for kind in KINDS]
    for one in [*chosen, *(experiment.get("controllers") or [])]:
        name = one.get("name") if isinstance(one, dict) else one
        if isinstance(name, str):
            yield name
