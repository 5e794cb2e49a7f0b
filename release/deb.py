"""`make deb`: a Debian package of the wheel for this machine, with Python packages that Debian lacks or has too old.

They are in an environment of their own, /usr/lib/testbed; Python, libbpf and tools of the kernel's racks are Debian's.
"""

from __future__ import annotations

import gzip
import os
import platform
import subprocess
import sys
from email.utils import formatdate
from pathlib import Path
from tempfile import TemporaryDirectory

from release.slim import slim
from release.wheels import ROOT, epoch_of

NAME, HOME = "testbed", Path("usr/lib/testbed")
EXTRAS = "captures,compile,plots,rack"
MAINTAINER = "{DEBFULLNAME} <{DEBEMAIL}>"  # as Debian's own tools are told
NOBODY = {"DEBFULLNAME": "The testbed's contributors", "DEBEMAIL": "testbed@localhost"}
PYTHON = Path("/usr/bin/python3")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
DEPENDS = ("libbpf1", "iproute2")
SUMMARY = "emulation testbed for datacenter congestion control"
ABOUT = """\
 Emulates a datacenter rack on one machine, with real RoCEv2 packets as root
 or on a virtual clock without, to develop congestion control and to compare
 it with published algorithms. Everything of its own is compiled; gcc is for
 controllers of your own.
"""
POSTINST = """\
#!/bin/sh
set -e
if [ "$1" = configure ]; then
    /usr/lib/testbed/bin/python -m compileall -q -j 0 /usr/lib/testbed/lib >/dev/null 2>&1 || true
fi
"""
PRERM = """\
#!/bin/sh
set -e
find /usr/lib/testbed -name __pycache__ -type d -prune -exec rm -rf {} +
"""
OVERRIDES = """\
# Whoever publishes it sets DEBFULLNAME and DEBEMAIL.
testbed: bogus-mail-host
testbed: bogus-mail-host-in-debian-changelog
# Wheels bring their libraries with them, as their authors have built and tested them.
testbed: embedded-library
testbed: unstripped-binary-or-object
testbed: custom-library-search-path
testbed: shared-library-lacks-prerequisites
testbed: library-not-linked-against-libc
# eBPF, which the kernel compiles.
testbed: binary-from-other-architecture [usr/lib/testbed/lib/python3*/site-packages/testbed/binaries/*.o]
"""


def build(wheel: Path, out: Path) -> Path:
    """The package, in a folder. Times are those of the sources."""
    os.umask(0o022)
    epoch = epoch_of()
    version = wheel.name.split("-")[1]
    target = out / f"{NAME}_{version}_{ARCHITECTURES[platform.machine()]}.deb"
    with TemporaryDirectory() as folder:
        stage = Path(folder) / "stage"
        environment(stage, wheel)
        documents(stage, version, epoch)
        described(stage, version)
        for file in (stage, *stage.rglob("*")):
            os.utime(file, (epoch, epoch), follow_symlinks=False)
        command = ("dpkg-deb", "-Zxz", "-z1", "--root-owner-group", "--build", stage, target)
        subprocess.run(command, env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}, check=True)
    return target


def environment(stage: Path, wheel: Path) -> None:
    """A virtual environment as it will be at its place."""
    home = stage / HOME
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", home], check=True)
    pip = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--link-mode", "copy"]
    subprocess.run([*pip, "--python", home / "bin/python", f"{wheel}[{EXTRAS}]"], check=True)
    for script in (home / "bin").iterdir():
        if script.is_symlink():
            continue
        if script.name == NAME:
            script.write_text(script.read_text().replace(str(stage), "", 1))
        else:
            script.unlink()  # activate, and the commands of other packages
    config = home / "pyvenv.cfg"
    config.write_text("".join(one for one in config.open() if not one.startswith("command")))
    for where_from in home.rglob("direct_url.json"):
        where_from.unlink()
    slim(home)
    for file in home.rglob("*"):
        if file.is_file() and not file.is_symlink():
            file.chmod(0o755 if file.parent == home / "bin" else 0o644)
    (stage / "usr/bin").mkdir(parents=True)
    (stage / "usr/bin" / NAME).symlink_to(Path("..") / HOME.relative_to("usr") / "bin" / NAME)


def documents(stage: Path, version: str, epoch: int) -> None:
    """Licences, changes, and what lintian need not say."""
    folder = stage / "usr/share/doc" / NAME
    folder.mkdir(parents=True)
    home = stage / HOME
    known = ("LICEN", "COPYING")
    licences = sorted(one for one in home.rglob("*") if one.is_file() and one.name.upper().startswith(known))
    told = [f"Files: {one.parent.parent.relative_to(stage)}/*\n see {one.relative_to(stage)}\n" for one in licences]
    own = "testbed is under the Apache License 2.0: /usr/share/common-licenses/Apache-2.0\n\nWhat is bundled:\n\n"
    (folder / "copyright").write_text(own + "\n".join(told))
    entry = f"{NAME} ({version}) unstable; urgency=medium\n\n  * /usr/lib/testbed has the version's change log.\n\n"
    entry += f" -- {maintainer()}  {formatdate(epoch)}\n"
    (folder / "changelog.gz").write_bytes(gzip.compress(entry.encode(), 9, mtime=epoch))
    overrides = stage / "usr/share/lintian/overrides" / NAME
    overrides.parent.mkdir(parents=True)
    overrides.write_text(OVERRIDES)


def maintainer() -> str:
    return MAINTAINER.format(**(NOBODY | os.environ))


def described(stage: Path, version: str) -> None:
    """The control files."""
    (control := stage / "DEBIAN").mkdir()
    python = subprocess.run(
        [PYTHON, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=True
    ).stdout.split()
    this, following = f"{python[0]}.{python[1]}", f"{python[0]}.{int(python[1]) + 1}"
    depends = (f"python3 (>= {this})", f"python3 (<< {following})", "libc6 (>= 2.28)", *DEPENDS)
    size = sum(file.lstat().st_size for file in stage.rglob("*") if not file.is_dir()) // 1024
    (control / "control").write_text(
        f"Package: {NAME}\nVersion: {version}\nArchitecture: {ARCHITECTURES[platform.machine()]}\n"
        f"Maintainer: {maintainer()}\nInstalled-Size: {size}\nDepends: {', '.join(depends)}\n"
        f"Recommends: gcc, libc6-dev\nSection: net\nPriority: optional\nDescription: {SUMMARY}\n{ABOUT}"
    )
    for name, text in (("postinst", POSTINST), ("prerm", PRERM)):
        (control / name).write_text(text)
        (control / name).chmod(0o755)


def main() -> None:
    wheels = sorted((ROOT / "dist").glob(f"*_{platform.machine()}.whl"))
    if not wheels:
        sys.exit("there is no wheel for this machine in dist/: make dist")
    print(build(wheels[-1], ROOT / "dist"))


if __name__ == "__main__":
    main()
