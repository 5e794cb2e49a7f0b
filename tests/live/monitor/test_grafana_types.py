"""The dashboards in the types of Grafana's own foundation SDK, of the version that `testbed monitor` starts.

Its readers drop keys that they do not know and check no values; so what they keep is compared with what was there, and
values with what the fields of its classes are declared as.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest
from pydantic import ConfigDict, TypeAdapter, ValidationError

from tests.live.monitor.boards import NAMES, board

models = pytest.importorskip("grafana_foundation_sdk.models.dashboard", reason="needs grafana-foundation-sdk")
SHAPE = ConfigDict(arbitrary_types_allowed=True)


def read(content: dict[str, Any]) -> Any:
    """As the SDK's objects; transformations, which its reader leaves as they are, too."""
    from grafana_foundation_sdk.cog.plugins import register_default_plugins

    register_default_plugins()
    found = models.Dashboard.from_json(content)
    for panel in found.panels:
        if getattr(panel, "transformations", None):
            panel.transformations = [models.DataTransformerConfig.from_json(one) for one in panel.transformations]
    return found


def written(found: Any) -> Any:
    from grafana_foundation_sdk.cog.encoder import JSONEncoder

    return json.loads(json.dumps(found, cls=JSONEncoder))


def lost(ours: Any, theirs: Any, where: str = "") -> Iterator[str]:
    """Keys and values of ours that are not in theirs."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            yield from lost(value, theirs.get(key, "nothing"), f"{where}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from lost(one, other, f"{where}.{number}")
    elif ours != theirs:
        yield f"{where}: {ours} became {theirs}"


def untrue(found: Any, where: str = "") -> Iterator[str]:
    """Fields whose values are not what their class declares."""
    if isinstance(found, list):
        for number, one in enumerate(found):
            yield from untrue(one, f"{where}.{number}")
    elif hasattr(found, "to_json") and not isinstance(found, Enum):
        declared = typing.get_type_hints(type(found))
        for name, value in vars(found).items():
            try:
                TypeAdapter(declared[name], config=SHAPE).validate_python(value)
            except ValidationError as error:
                yield f"{where}.{name} is {value}: {error.errors()[0]['msg']}"
            yield from untrue(value, f"{where}.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_the_types_of_grafana_hold_all_of_it(name: str) -> None:
    found = read(board(name))
    assert list(lost(board(name), written(found))) == []
    assert list(untrue(found)) == []


def test_what_is_wrong_is_found() -> None:
    """A key that Grafana does not have, a type of variable that it does not have, and a number that is text."""
    wrong = board("rack")
    wrong["panels"][1]["gridPosition"] = {}
    wrong["templating"]["list"][0]["type"] = "queries"
    wrong["schemaVersion"] = "thirty-nine"
    found = read(wrong)
    assert list(lost(wrong, written(found))) == [".panels.1.gridPosition: {} became nothing"]
    assert [one.split(" ")[0] for one in untrue(found)] == [".schema_version", ".templating.list_val.0.type_val"]
