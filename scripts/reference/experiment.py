"""docs/reference/experiment.md, of the models of the experiment file."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scripts.reference.markdown import REFERENCE, entries, listed
from testbed.experiment import options
from testbed.experiment.block import ChosenBy
from testbed.experiment.choice import PluginChoice
from testbed.experiment.model import Experiment
from testbed.experiment.traffic.pattern import Pattern

FILE = REFERENCE / "experiment.md"
Row = tuple[str, str, str]
EVERY = "of every"

INTRODUCTION = """\
# The experiment file

*Written by `make schema` from `testbed/experiment/model.py`; change it there.*

An experiment is one YAML file; `testbed show incast-64` prints a shipped one with every default spelled out.
`--set traffic.senders=8` overrides a key, named with the block that it stands in; entries of a list are `events.0.at`,
named ones `rack.switch.queues.3.weight`. Below, the default stands in brackets; a key that is a link is a block.

Quantities carry their unit: `100 Gbit/s`, `8 us`, `5 MB`, `20 %`. Prefixes are decimal (1 kB is 1000 B); KiB, MiB and
GiB are understood. A bare number is refused where a unit belongs, except 0. All quantities are nominal: of the rack
that is emulated, not of the machine that emulates it.

The smallest file says who sends to whom, and under which controller:

```yaml
traffic:
  pattern: incast
  senders: 8
controller: dcqcn
```

A first line `# yaml-language-server: $schema=PATH/testbed/experiment.schema.json` makes editors complete and check it.
"""

ANY_OTHER = ("*any other*", "", "[An option of the plugin](plugins.md).")


def text() -> str:
    """The page."""
    parts = [INTRODUCTION, *_section("", "Top level", Experiment, {})]
    return "\n".join(parts)


def _section(
    prefix: str,
    title: str,
    model: type[BaseModel],
    described: dict[Row, str],
    *,
    only: set[Row] | None = None,
    said: str = "",
) -> Iterator[str]:
    """One list per key and model, depth first; keys that an earlier one describes alike are named."""
    yield f"## {title}\n"
    first, *more = inspect.cleandoc(model.__doc__ or "").split("\n\n")
    yield from (f"{one}\n" for one in [*[first] * (_line(first) not in said), *more] if only is None)
    rows = [row for row in _rows(model) if not _is_choice(title, row[0]) and (only is None or row in only)]
    new = [row for row in rows if row not in described]
    inner: list[tuple[str, str, type[BaseModel], set[Row] | None, str]] = []
    shown = []
    for name, default, meaning in new:
        info, key = model.model_fields[name], f"{prefix}{name}"
        # a pattern within another has the same keys, and so has a tuner as a controller
        models = [one for one in _models(info.annotation) if not (prefix and issubclass(one, Pattern))]
        link, told = "", {described.get(row, "") for one in models for row in _rows(one)}
        if len(models) > 1:
            most = Counter(
                row for one in models for row in _rows(one) if all(row[0] in each.model_fields for each in models)
            )
            shared = {row for row, times in most.items() if times > len(models) / 2}
            inner.append((f"{key}.", f"`{key}` {EVERY} {_chooser(info)}", models[0], shared, ""))
            inner += ((f"{key}.", _choice(info, one), one, None, "") for one in models)
        elif len(told) == 1 and "" not in told:
            link = _anchor(*told)
        elif models and name != "tuner":
            label = f"`{key}`" if f"`{key}`" not in described.values() else f"`{key}` of {title.lower()}"
            inner.append((f"{key}{_below(info)}", label, models[0], None, meaning))
            link = _anchor(label)
        shown.append((f"[`{name}`](#{link})" if link else f"`{name}`", default, meaning))
    yield from entries([*shown, *[ANY_OTHER] * issubclass(model, PluginChoice)])
    same: dict[str, list[str]] = {}
    for row in rows:
        if EVERY not in (earlier := described.get(row, EVERY)):
            same.setdefault(earlier, []).append(row[0])
    if same:
        among = {earlier: [row[0] for row, its in described.items() if its == earlier] for earlier in same}
        yield f"As in {'; '.join(f'{_link(one)}: {listed(names, among[one])}' for one, names in same.items())}.\n"
    described.update(dict.fromkeys(new, title))
    for below, label, one, some, meaning in inner:
        yield from _section(below, label, one, described, only=some, said=meaning)


def _rows(model: type[BaseModel]) -> list[Row]:
    return [(name, _default(model, name, info), _meaning(info)) for name, info in model.model_fields.items()]


def _meaning(info: FieldInfo) -> str:
    """A block's own, unless the key says more."""
    (first, *_) = (*(one.__doc__ or "" for one in _models(info.annotation)), "")
    return options.meaning(info) or _line(inspect.cleandoc(first).partition("\n\n")[0])


def _line(paragraph: str) -> str:
    return " ".join(paragraph.split())


def _link(heading: str) -> str:
    return f"[{heading.removeprefix('Pattern ')}](#{_anchor(heading)})"


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
    return re.sub(r"[`.\[\]]", "", heading).replace(" ", "-").lower()


def _is_choice(title: str, name: str) -> bool:
    """Whether the heading says what its value is: Kind `star`."""
    return title.startswith(f"{name.capitalize()} `")


def _choice(info: FieldInfo, model: type[BaseModel]) -> str:
    """The key that chooses among several models, and its value: Pattern `incast`."""
    key = _chooser(info)
    (value,) = get_args(model.model_fields[key].annotation)
    return f"{key.capitalize()} `{value}`"


def _chooser(info: FieldInfo) -> str:
    (key,) = (one.key for one in info.metadata if isinstance(one, ChosenBy))
    return key


def _default(model: type[BaseModel], name: str, info: FieldInfo) -> str:
    if info.is_required():
        return "*required*"
    if isinstance(info.default, PluginChoice):
        return f"`{info.default.name}`"
    default = "" if isinstance(info.default, BaseModel) else options.default(model, name, info)
    return f"`{default}`" if default.strip("[]{}") else ""
