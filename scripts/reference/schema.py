"""testbed/experiment/experiment.schema.json, of the models of the experiment file: for editors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from scripts.reference.markdown import ROOT
from testbed.experiment.block import Part
from testbed.experiment.model import Experiment
from testbed.experiment.options import shown

FILE = ROOT / "testbed/experiment/experiment.schema.json"


def schema() -> dict[str, Any]:
    """The JSON schema of an experiment file."""
    built = Experiment.model_json_schema()
    built["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    built["title"] = "testbed experiment"
    for model in dict.fromkeys(_parts(Part)):  # some have two bases
        if model is not Experiment and model.__name__ not in built["$defs"]:
            continue  # a base class
        described = built if model is Experiment else built["$defs"][model.__name__]
        properties = described.get("anyOf", [described])[-1]["properties"]  # the others are short forms
        for name, info in model.model_fields.items():
            if isinstance(info.default, BaseModel):
                del properties[name]["default"]  # its own keys have theirs
            elif info.default not in (None, "", PydanticUndefined):
                properties[name]["default"] = shown(model, name, info)  # with its unit
    built["anyOf"] = [{"required": built.pop("required")}, {"required": ["apps"]}]
    return built


def _parts(base: type[Part]) -> Iterator[type[Part]]:
    for model in base.__subclasses__():
        yield model
        yield from _parts(model)


def text() -> str:
    """The file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"
