"""cppcheck finds nothing in exports, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from testbed.compiled.c_library import FOLDER
from testbed.registry import find
from testbed.sdk.export.c.compare import exported
from tests.support.card.exports import BY_HAND, WRITTEN

COMMAND = ("cppcheck", "-q", "--std=c99", "--enable=warning,style,performance,portability", f"-I{FOLDER}")
UNREAD = "--suppress=unusedStructMember"  # an ACK has more than a controller reads

pytestmark = pytest.mark.skipif(not shutil.which("cppcheck"), reason="cppcheck is not installed")


def found(*places: Path) -> str:
    return subprocess.run([*COMMAND, UNREAD, *places], capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("name", ["dctcp", "hpcc", "dcqcn"])
def test_in_c99(name: str, tmp_path: Path) -> None:
    plugin = find("controller", name)
    (tmp_path / f"{name}.c").write_text(exported(plugin, plugin.configure(None, {})).text)
    assert found(tmp_path) == ""


@pytest.mark.parametrize("name", [*WRITTEN, *BY_HAND])
def test_in_programs_for_a_card(name: str, exports: dict[str, Path]) -> None:
    assert found(exports[name] / "device") == ""


def test_it_would_find_something(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("int f(void)\n{\n\tint a[2];\n\n\treturn a[2];\n}\n")
    assert "arrayIndexOutOfBounds" in found(tmp_path)
