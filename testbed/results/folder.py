"""The results folder: checked before the run, written at once after it, and read back.

    manifest.json   what is needed to run it again; what the experiment names by path is in files/
    summary.json    the figures
    flows.parquet, flow_series.parquet, ports.parquet, port_series.parquet, histograms.parquet
    decisions.parquet   what the controllers were told and decided (`testbed.results.decisions`)
    queues.parquet, queue_series.parquet   the queues of all ports, where these have several
    tuners.parquet      what the tuners told of themselves, if they were ever asked (`testbed.results.report.tuned`)
    apps/               what apps printed
    learned/            what tuners learned in the run, if they did
    report.html     the same for the eye, and for `testbed rerun` (`testbed.results.packed`)

A folder that has its name is complete: everything is written beside it and moved into place by one rename.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from testbed.base.problems import first_problem
from testbed.base.strange import all_visible
from testbed.errors import BadInput, TestbedError
from testbed.results import apps, arrow
from testbed.results.manifest import SCHEMA_VERSION, Manifest
from testbed.results.record import RunRecord
from testbed.results.summary import Summary
from testbed.results.tables import TABLES, write_tables

if TYPE_CHECKING:
    import pyarrow as pa


Model = TypeVar("Model", bound=BaseModel)
Answer = TypeVar("Answer")

MANIFEST, SUMMARY, REPORT, DECISIONS = "manifest.json", "summary.json", "report.html", "decisions.parquet"
LEARNED = "learned"


class Tables(Mapping[str, "pa.Table"]):
    """An Arrow table per name in `TABLES`, read when it is first asked for: series of many flows are gigabytes.

    Raises BadInput, at once for a table that is missing or cut short.
    """

    def __init__(self, path: Path) -> None:
        self._files = {name: path / f"{name}.parquet" for name in TABLES}
        self._read: dict[str, pa.Table] = {}
        for file in self._files.values():
            _of_table(arrow.check, file)

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._read:
            self._read[name] = read_table(self._files[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


class Results(NamedTuple):
    """A results folder."""

    manifest: Manifest
    summary: Summary
    tables: Mapping[str, pa.Table]


def prepare(out: Path | None, name: str) -> Path:
    """Where the results of a run will go, as an absolute path; raises BadInput if they could not be written there.

    Call it before anything is built. ``name`` is ``<experiment>-<controller>``; it and the time make the folder under
    ``./results`` if the user named none. Nothing is left on disk, so a run that fails leaves no empty folder.
    """
    target = _unused(Path.cwd() / "results", name) if out is None else _given(out.expanduser())
    nearest_parent = next(parent for parent in target.parents if os.path.lexists(parent))
    try:
        # Trying is the only test that is right for root, read-only mounts and network file systems alike.
        Path(tempfile.mkdtemp(prefix=".testbed-", dir=nearest_parent)).rmdir()
    except OSError as error:
        raise BadInput(
            f"results cannot be written to {target}: {nearest_parent}: {error.strerror}; "
            "name another folder with --out, or run from a folder that you can write to"
        ) from None
    return target


def _given(out: Path) -> Path:
    try:
        out = out.absolute() if not out.is_symlink() else out.resolve()
        if out.is_dir() and any(out.iterdir()):
            raise BadInput(f"--out {out} already exists and is not empty; results never overwrite, name another folder")
    except PermissionError as error:
        raise BadInput(f"--out {out} cannot be read: {error.strerror}") from None
    if os.path.lexists(out) and not out.is_dir():
        raise BadInput(f"--out {out} exists and is not a folder")
    if out.is_mount():
        raise BadInput(f"--out {out} is a mount point and cannot be replaced; name a folder inside: {out / 'run'}")
    return out


def _unused(parent: Path, name: str) -> Path:
    safe = re.sub(r"[^A-Za-z0-9._+-]+", "-", name).strip("-.") or "run"
    candidates = _numbered(parent / f"{safe}-{time.strftime('%Y%m%d-%H%M%S')}")
    return next(path for path in candidates if not os.path.lexists(path))


def _numbered(path: Path) -> Iterator[Path]:
    yield path
    for number in itertools.count(2):
        yield path.with_name(f"{path.name}-{number}")


def write(
    path: Path,
    manifest: Manifest,
    record: RunRecord,
    summary: Summary,
    *,
    add: Sequence[Callable[[Path], None]] = (),
    last: Callable[[Path], object] | None = None,
) -> Path:
    """Write the results folder and give back where it is: ``path``, or ``path-2`` if another run was faster.

    What else belongs into it, each of ``add`` writes there before anybody sees it, and ``last`` what is made of all.

    Through sudo, the folder and the parents that had to be made belong to the user who called it.
    """

    told = {
        "verdict": summary.verdict,
        "calibration": record.calibration,
        "hosts": record.hosts,
        "loaded_plugins": record.loaded_plugins,
        "decisions": record.decisions_kept,
        "captures": record.captures,
        "tuners": [one.as_dict() for one in record.tuners],
        "rest": _rest(record, summary) if record.windows else {},
        "events": record.events,
        "apps": [one.as_dict() for one in record.apps],
    }
    manifest = manifest.model_copy(update=told)
    try:
        with beside(path) as unfinished:
            write_tables(unfinished, record)
            if record.decisions_file is not None:
                record.decisions_file.tofile(unfinished / DECISIONS)
            apps.write(unfinished, record.apps)
            _write_learned(unfinished / LEARNED, record)
            for each in add:
                each(unfinished)
            manifest = manifest.model_copy(update={"sha256": _digests(unfinished)})
            (unfinished / MANIFEST).write_text(manifest.to_json() + "\n", encoding="utf-8")
            (unfinished / SUMMARY).write_text(summary.to_json() + "\n", encoding="utf-8")
            if last:
                last(unfinished)
            return _move(complete(unfinished), path)
    except OSError as error:
        raise TestbedError(f"results could not be written to {path}: {error.strerror or error}") from error


def _rest(record: RunRecord, summary: Summary) -> dict[str, Any]:
    """Seconds, and what still drifted in the last window."""
    return {
        "windows": record.windows, "start": record.warmup, "end": record.duration, "unrest": summary.unrest,
    }  # fmt: skip


def _write_learned(folder: Path, record: RunRecord) -> None:
    for name, content in (one for log in record.tuners for one in log.learned.items()):
        folder.mkdir(exist_ok=True)
        (folder / Path(name).name).write_bytes(content)


def data_files(run: Path) -> list[Path]:
    """Tables and captures: what is the same bits again on the virtual engine."""
    return sorted(file for pattern in ("*.parquet", "*.pcapng") for file in run.glob(pattern))


def sha256(file: Path) -> str:
    """As `sha256sum` prints it."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _digests(run: Path) -> dict[str, str]:
    return {file.name: sha256(file) for file in data_files(run)}


def make_folder(path: Path) -> None:
    """Make a folder and its parents if they are missing; through sudo they belong to the user who called it."""
    missing = [parent for parent in (path, *path.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(exist_ok=True)
        give_to_caller([parent])


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """A folder to fill, and to move to ``target`` once it is `complete`; otherwise nothing is left of it."""
    make_folder(target.parent)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent, ignore_cleanup_errors=True) as made:
        yield Path(made)


def complete(unfinished: Path) -> Path:
    """The folder, for all to read; through sudo it belongs to the user who called it."""
    unfinished.chmod(0o755)  # tempfile's are private
    give_to_caller((unfinished, *unfinished.rglob("*")))
    return unfinished


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Make the folder that `prepare` found free; if what is to fill it raises an exception, it is as it was before."""
    was_there = path.exists()
    make_folder(path)
    try:
        yield path
    except BaseException:
        for made in [*path.iterdir()] if was_there else [path]:
            shutil.rmtree(made) if made.is_dir() else made.unlink()
        raise


def give_to_caller(made: Iterable[Path]) -> None:
    """Through sudo, these files belong to the user who called it."""
    if os.geteuid() != 0 or "SUDO_UID" not in os.environ:
        return
    uid = int(os.environ["SUDO_UID"])
    gid = int(os.environ.get("SUDO_GID", uid))
    for path in made:
        os.chown(path, uid, gid, follow_symlinks=False)


def _move(unfinished: Path, path: Path) -> Path:
    for target in _numbered(path):
        try:
            unfinished.rename(target)  # replaces an empty folder, and nothing else
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
        else:
            return target
    raise AssertionError("unreachable: there is always another number")


def load_manifest(path: Path) -> Manifest:
    """The manifest of a results folder; raises BadInput if it is none, or one of another schema version."""
    if not path.is_dir():
        raise BadInput(f"no results folder at {path}")
    if not (path / MANIFEST).is_file():
        raise BadInput(f"{path} is not a results folder: it has no {MANIFEST}")
    described = read_json(path / MANIFEST)
    found = described.get("schema_version") if isinstance(described, dict) else None
    if found != SCHEMA_VERSION:
        raise BadInput(
            f"{path} has results schema version {found}, this testbed reads {SCHEMA_VERSION}; "
            "read it with the testbed that wrote it, or run the experiment again"
        )
    return validated(path / MANIFEST, Manifest)


def load(path: Path) -> Results:
    """Read a results folder back; raises BadInput that says which file is missing, too new, or cut short."""
    return Results(load_manifest(path), load_summary(path), Tables(path))


def load_summary(path: Path) -> Summary:
    """The figures of a run. Raises BadInput."""
    return validated(path / SUMMARY, Summary)


def read_json(file: Path) -> Any:
    """What a file holds, all of it visible. Raises BadInput if it is missing, or no JSON."""
    try:
        return all_visible(json.loads(_read(file)))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file} is cut short or damaged: {error}") from None


def validated(file: Path, model: type[Model]) -> Model:
    """The same as a model of pydantic. Raises BadInput also for what does not fit."""
    try:
        return model.model_validate(read_json(file))
    except ValidationError as error:
        raise BadInput(f"{file} is damaged: {first_problem(error)}") from None


def read_table(file: Path) -> pa.Table:
    """One Parquet file; raises BadInput if it is missing or cut short."""
    return _of_table(arrow.read, file)


def _of_table(ask: Callable[[Path], Answer], file: Path) -> Answer:
    import pyarrow as pa

    if not file.is_file():
        raise _missing(file)
    try:
        return ask(file)
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{file} is cut short or damaged: {error}") from None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise _missing(file) from None
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from None


def _missing(file: Path) -> BadInput:
    return BadInput(f"the results folder is incomplete: {file} is missing")
