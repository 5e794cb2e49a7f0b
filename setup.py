"""What pyproject.toml cannot: a wheel that brings `testbed/binaries` is for one kind of machine, and every Python."""

from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.dist import Distribution

BINARIES = Path(__file__).with_name("testbed") / "binaries"
SBOM = Path(__file__).with_name("sbom.cdx.json")


class WithBinaries(Distribution):
    def has_ext_modules(self) -> bool:
        return BINARIES.is_dir()


class Wheel(bdist_wheel):
    def get_tag(self) -> tuple[str, str, str]:
        python, abi, platform = super().get_tag()
        return ("py3", "none", platform) if BINARIES.is_dir() else (python, abi, platform)

    def egg2dist(self, egginfo_path: str, distinfo_path: str) -> None:
        super().egg2dist(egginfo_path, distinfo_path)
        if SBOM.exists():  # PEP 770
            (folder := Path(distinfo_path) / "sboms").mkdir()
            (folder / SBOM.name).write_bytes(SBOM.read_bytes())


setup(distclass=WithBinaries, cmdclass={"bdist_wheel": Wheel})
