"""The bill of materials names what is inside and what is needed, in CycloneDX's form."""

from __future__ import annotations

import json
import tomllib

import pytest

from release.sbom import bill
from tests.support.checkout import ROOT


def test_it_names_what_is_inside_and_what_is_needed() -> None:
    told = json.loads(bill(ROOT, 0))
    names = {one["name"] for one in told["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert len(names) == len(project["dependencies"]) + 1
    assert {"uPlot", "numpy", "pydantic"} <= names
    assert told["metadata"]["timestamp"] == "1970-01-01T00:00:00+00:00"
    assert (ROOT / "LICENSES/uPlot.txt").read_text().count("MIT License") == 1


def test_it_is_valid() -> None:
    pytest.importorskip("cyclonedx", reason="of the dependency group 'release'")
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(bill(ROOT, 0)) is None
