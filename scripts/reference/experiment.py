"""docs/reference/experiment.md, of the models of the experiment file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scripts.reference.markdown import REFERENCE, table
from testbed.experiment import options
from testbed.experiment.choice import PluginChoice
from testbed.experiment.model import Experiment

FILE, HEADS = REFERENCE / "experiment.md", ("key", "default", "meaning")

INTRODUCTION = """\
# The experiment file

*Written by `make schema` from `testbed/experiment/model.py`; change it there.*

An experiment is one YAML file. `testbed list` names the shipped ones, `testbed show incast-64` prints one with every
default spelled out, and `--set key=value` overrides any key below, with the block that it stands in: `--set
traffic.senders=8`. Entries of a list are `events.0.at`, named ones `rack.switch.queues.3.weight`.

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

ANY_OTHER = ("*any other*", "", "An option of the plugin itself: [plugins.md](plugins.md), or `testbed list PLUGIN`.")


def text() -> str:
    """The page."""
    parts = [INTRODUCTION, *_section("", "Top level", Experiment, {})]
    return "\n".join(parts)


def _section(prefix: str, title: str, model: type[BaseModel], described: dict[object, str]) -> Iterator[str]:
    """One table per key and model, depth first; keys that an earlier one describes alike are named."""
    if (title, model) in described:
        return  # several kinds of racks have the same links
    described[title, model] = title
    yield f"## {title}\n"
    yield f"{inspect.cleandoc(model.__doc__ or '')}\n"
    fields = {name: info for name, info in model.model_fields.items() if not _is_choice(title, name)}
    rows = {name: (name, _default(model, name, info), info.description or "") for name, info in fields.items()}
    new = [row for row in rows.values() if row not in described]
    others = [ANY_OTHER] * issubclass(model, PluginChoice)
    yield from table(HEADS, [*((f"`{name}`", *told) for name, *told in new), *others])
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
    same = [
        f"[{earlier.rpartition(' with ')[2]}](#{_anchor(earlier)}): "
        + ", ".join(f"`{name}`" for name, row in rows.items() if described.get(row) == earlier)
        for earlier in dict.fromkeys(described[row] for row in rows.values() if row in described)
    ]
    if same:
        yield f"As in {'; '.join(same)}.\n"
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


def _anchor(heading: str) -> str:
    return re.sub(r"[`.\[\]]", "", heading).replace(" ", "-")


def _is_choice(title: str, name: str) -> bool:
    """Whether the heading says what its value is: `rack` with kind `star`."""
    return f" with {name} " in title


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
