"""What the scheduler lets go before agents, as different kernels tell it."""

from __future__ import annotations

import gzip
import platform
from pathlib import Path

import pytest

from testbed.engines.kernel.scheduling import preemption, taken


def machine(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


NONE = gzip.compress(b"#\nCONFIG_PREEMPT_NONE=y\n# CONFIG_PREEMPT is not set\nCONFIG_PREEMPT_DYNAMIC=y\n")


@pytest.mark.parametrize(
    ("files", "model"),
    [
        (
            {"sys/kernel/debug/sched/preempt": b"none (voluntary) full lazy\n", "proc/cmdline": b"preempt=full"},
            "voluntary",
        ),
        ({"proc/cmdline": b"quiet preempt=full\n", "proc/config.gz": NONE}, "full"),
        ({"proc/cmdline": b"quiet\n", "proc/config.gz": NONE}, "none"),
        ({f"boot/config-{platform.release()}": b"#\nCONFIG_PREEMPT_LAZY=y\n"}, "lazy"),
        ({"proc/cmdline": b"quiet\n"}, ""),
    ],
)
def test_what_is_set_now_then_at_boot_then_when_it_was_built(
    files: dict[str, bytes], model: str, tmp_path: Path
) -> None:
    assert preemption(machine(tmp_path, files)) == model


@pytest.mark.parametrize(("runtime", "share"), [(b"950000\n", 0.05), (b"-1\n", 0)])
def test_what_is_taken_from_them(runtime: bytes, share: float, tmp_path: Path) -> None:
    files = {"proc/sys/kernel/sched_rt_runtime_us": runtime, "proc/sys/kernel/sched_rt_period_us": b"1000000\n"}
    assert taken(machine(tmp_path, files)) == pytest.approx(share)
