"""Wheels of what is installed here, made without a network: what `pip wheel` would have fetched."""

from __future__ import annotations

import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def closure(names: list[str]) -> list[Distribution]:
    """These, and all that they need here."""
    found: dict[str, Distribution] = {}
    left = list(names)
    while left:
        one = distribution(left.pop())
        if one.name not in found:
            found[one.name] = one
            needs = [Requirement(text) for text in one.requires or []]
            left += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return list(found.values())


def pack(one: Distribution, folder: Path) -> Path:
    """The wheel that this was installed from, less what pip made."""
    listed = one.files or []
    inside = [file for file in listed if ".." not in file.parts and file.suffix != ".pyc"]
    description = next(file for file in inside if file.name == "WHEEL" and file.parts[0].endswith(".dist-info"))
    tags = [line.removeprefix("Tag: ") for line in description.read_text().splitlines() if line.startswith("Tag: ")]
    columns = zip(*(tag.split("-") for tag in tags), strict=True)  # Python, ABI, platform: each may be several
    compressed = "-".join(".".join(dict.fromkeys(column)) for column in columns)
    wheel = folder / f"{description.parts[0].removesuffix('.dist-info')}-{compressed}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in inside:
            if file.name not in ("INSTALLER", "REQUESTED", "direct_url.json"):
                archive.write(str(file.locate()), str(file))
    return wheel
