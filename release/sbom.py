"""A CycloneDX bill of materials: what a wheel brings of others, and what it is installed with."""

from __future__ import annotations

import json
import re
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

BUNDLED = {"uplot.min.js": ("uPlot", "MIT", "pkg:npm/uplot")}  # as the file's first line says it, with its licence
_NAME = re.compile(r"[\w.-]+")
_VERSION = re.compile(r"uPlot ([\d.]+),")


def bill(checkout: Path, epoch: int) -> str:
    """The same for the same sources."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    own = f"pkg:pypi/{name}@{version}"
    needed = [_component(_NAME.match(one)[0].lower(), one) for one in project["dependencies"]]  # type: ignore[index]
    bundled = [_bundled(checkout, file) for file in BUNDLED]
    told = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, own)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(),
            "component": {
                "type": "application", "bom-ref": own, "name": name, "version": version, "purl": own,
                "licenses": [{"license": {"id": project["license"]}}],
            },
        },
        "components": [*bundled, *needed],
        "dependencies": [{"ref": own, "dependsOn": [one["bom-ref"] for one in (*bundled, *needed)]}],
    }  # fmt: skip
    return json.dumps(told, indent=1) + "\n"


def _component(name: str, requirement: str) -> dict[str, Any]:
    """Which version it will be is decided where it is installed."""
    purl = f"pkg:pypi/{name}"
    about = {"type": "library", "bom-ref": purl, "name": name, "purl": purl, "scope": "required"}
    return about | {"properties": [{"name": "requirement", "value": requirement}]}


def _bundled(checkout: Path, file: str) -> dict[str, Any]:
    (path,) = (checkout / "testbed").rglob(file)
    name, licence, purl = BUNDLED[file]
    version = _VERSION.search(path.read_text()[:200])
    assert version, f"{path} does not say its version"
    purl = f"{purl}@{version[1]}"
    about = {"type": "library", "bom-ref": purl, "name": name, "version": version[1], "purl": purl}
    return about | {"licenses": [{"license": {"id": licence}}]}
