"""A real Prometheus for the gates of a rollout."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.emulated_lab.enter import children

ADDRESS = "127.0.0.1:9090"
URL = f"http://{ADDRESS}"
PATIENCE = 120.0  # s

needs_prometheus = pytest.mark.skipif(
    shutil.which("prometheus") is None, reason="needs Prometheus: apt-get install prometheus"
)


@contextmanager
def prometheus(
    folder: Path,
    address: str,
    enter: Callable[[Sequence[str]], Sequence[str]] = list,
    targets: Sequence[str] = (),
    every: int = 1,
) -> Iterator[Callable[[], None]]:
    """It listens there, and scrapes ``targets`` every so many s. ``enter``: has a command run where it should listen.

    Gives what ends it.
    """
    folder.mkdir()
    jobs = [{"job_name": "hosts", "static_configs": [{"targets": list(targets)}]}] if targets else []
    file = folder / "prometheus.yml"
    file.write_text(
        yaml.safe_dump(
            {"global": {"scrape_interval": f"{every}s", "scrape_timeout": f"{every}s"}, "scrape_configs": jobs}
        )
    )
    command = ["prometheus", f"--config.file={file}", f"--storage.tsdb.path={folder}/data"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(enter([*command, f"--web.listen-address={address}"]), stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + PATIENCE
            while "Server is ready" not in (folder / "log").read_text():
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline, "Prometheus did not start"
                time.sleep(0.05)
            yield lambda: _end(process)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """What enters a namespace waits for the program and does not hand its signals on."""
    if process.poll() is None:
        for pid in children(process.pid) or [process.pid]:
            os.kill(pid, signal.SIGTERM)
        process.wait()


def result(text: str) -> list[float]:
    """Values of an instant query's answer."""
    return [float(row["value"][1]) for row in json.loads(text)["data"]["result"]]
