"""Checkpoints of jobs: they outlive an interruption, and are gone with the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.sdk.jobs import Job, JobConfig, JobContext, Result, checkpoints_of, run_job


def counting(_config: JobConfig, context: JobContext) -> Result:
    """Counts how often it was begun; the first time it is ended."""
    assert context.checkpoints is not None
    file = context.checkpoints / "begun"
    begun = len(file.read_text()) + 1 if file.exists() else 1
    context.checkpoints.mkdir(exist_ok=True)
    file.write_text("x" * begun)
    if begun == 1:
        raise KeyboardInterrupt
    (context.out / "made").write_text(str(begun))
    return Result([])


def test_checkpoints_outlive_an_interruption_and_go_with_the_result(tmp_path: Path) -> None:
    job, target = Job("Counts.", JobConfig, counting), tmp_path / "here"
    with pytest.raises(KeyboardInterrupt):
        run_job(job, JobConfig(), target, lambda _progress: None, "")
    assert [file.name for file in tmp_path.rglob("*")] == [checkpoints_of(target).name, "begun"]
    run_job(job, JobConfig(), target, lambda _progress: None, "")
    assert (target / "made").read_text() == "2"
    assert list(tmp_path.iterdir()) == [target]
