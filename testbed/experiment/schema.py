"""Renders the experiment's models: JSON schema for editors, docs/reference/experiment.md for readers.

``python -m testbed.experiment.schema`` writes both, and docs/reference/plugins.md (``make schema``);
a test says when they are stale.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from testbed.experiment import options
from testbed.experiment.block import Part
from testbed.experiment.choice import PluginChoice
from testbed.experiment.model import Experiment
from testbed.experiment.options import shown

SCHEMA_FILE = Path(__file__).parent / "experiment.schema.json"
DOCS_FILE = Path(__file__).parents[2] / "docs/reference/experiment.md"

INTRODUCTION = """\
# The experiment file

*Written by `make schema` from `testbed/experiment/model.py`; change it there.*

An experiment is one YAML file. `testbed list` names the shipped ones, `testbed show incast-64` prints one with every
default spelled out, and `--set key=value` overrides any key below: `--set traffic.senders=8`.

Quantities carry their unit: `100 Gbit/s`, `8 us`, `5 MB`, `20 %`. Prefixes are decimal (1 kB is 1000 B); KiB, MiB and
GiB are understood. A bare number is refused where a unit belongs, except 0. All quantities are nominal: they describe
the rack that is emulated, not the wall clock of the machine that emulates it.

The smallest file says who sends to whom, and under which controller:

```yaml
traffic:
  pattern: incast
  senders: 8
controller: dcqcn
```

A first line `# yaml-language-server: $schema=PATH/testbed/experiment.schema.json` makes editors complete and check it.
"""

ANY_OTHER = "| *any other* | | An option of the plugin itself: [plugins.md](plugins.md), or `testbed list PLUGIN`. |"


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


def schema_text() -> str:
    """`schema` as it is checked in."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def docs_text() -> str:
    """docs/reference/experiment.md as it is checked in."""
    parts = [INTRODUCTION, *_section("", "Top level", Experiment, {})]
    return "\n".join(parts)


def _section(prefix: str, title: str, model: type[BaseModel], described: dict[object, str]) -> Iterator[str]:
    """One table per key and model, depth first; keys that an earlier one describes alike are named."""
    if (title, model) in described:
        return  # several kinds of racks have the same links
    described[title, model] = title
    yield f"## {title}\n"
    yield f"{inspect.cleandoc(model.__doc__ or '')}\n"
    fields = model.model_fields
    rows = {name: (name, _default(model, name, info), info.description or "") for name, info in fields.items()}
    new = [row for row in rows.values() if row not in described]
    table = [f"| `{prefix}{name}` | {default} | {meaning} |" for name, default, meaning in new]
    if issubclass(model, PluginChoice):
        table.append(ANY_OTHER)
    if table:
        yield "\n".join(("| key | default | meaning |\n|---|---|---|", *table, ""))
    inner: list[tuple[str, str, type[BaseModel]]] = []
    for name, info in fields.items():
        key = f"{prefix}{name}"
        models = list(_models(info.annotation))
        for one in models:
            if one is PluginChoice and name == "tuner":
                continue  # the same keys as the controller
            label = f"`{key}`" if len(models) == 1 else f"`{key}` with {_choice(info, one)}"
            if prefix and "pattern" in one.model_fields:
                continue  # a pattern within another has the same keys
            inner.append((f"{key}{_below(info)}", label, one))
    for earlier in dict.fromkeys(described[row] for row in rows.values() if row in described):
        names = ", ".join(f"`{prefix}{name}`" for name, row in rows.items() if described.get(row) == earlier)
        anchor = re.sub(r"[`.\[\]]", "", earlier).replace(" ", "-")
        yield f"As in [{earlier}](#{anchor}): {names}.\n"
    described.update(dict.fromkeys(new, title))
    for below, label, one in inner:
        yield from _section(below, label, one, described)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, UnionType, list, dict):
        for argument in get_args(annotation):
            yield from _models(argument)


def _below(info: FieldInfo) -> str:
    """Between a key and those of its entries."""
    origin = get_origin(info.annotation)
    return "[]." if origin is list else ".*." if origin is dict else "."


def _choice(info: FieldInfo, model: type[BaseModel]) -> str:
    """The key that chooses among several models, and its value: pattern `incast`."""
    key = str(info.discriminator)
    (value,) = get_args(model.model_fields[key].annotation)
    return f"{key} `{value}`"


def _default(model: type[BaseModel], name: str, info: FieldInfo) -> str:
    if info.is_required():
        return "*required*"
    if isinstance(info.default, PluginChoice):
        return f"`{info.default.name}`"
    default = "" if isinstance(info.default, BaseModel) else options.default(model, name, info)
    return f"`{default}`" if default else ""


def main() -> None:
    """Write the files."""
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
    DOCS_FILE.parent.mkdir(exist_ok=True)
    DOCS_FILE.write_text(docs_text(), encoding="utf-8")
    options.DOCS_FILE.write_text(options.docs_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
