"""A class of options as the list of options of testbed_cc.h."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic.fields import FieldInfo

from testbed.compiled.options import choices
from testbed.plugin import PluginConfig
from testbed.sdk.export.c.functions import option_kinds
from testbed.sdk.export.c.terms import literal
from testbed.units import Rate, Ratio, Size, Time

UNITS: dict[str, Any] = {"s": Time, "bit/s": Rate, "B": Size, "share": Ratio}


def declared(config: PluginConfig) -> list[str]:
    """Lines of C: choices as macros, then the list, whose defaults are the values of ``config``."""
    form = type(config)
    texts, kinds = choices(form), dict(option_kinds(form))
    lines = macros(texts)
    rows = []
    for name, kind in kinds.items():
        info, value = form.model_fields[name], getattr(config, name)
        told = "|".join(texts[name]) if name in texts else _range(info)
        initial = str(texts[name].index(value)) if name in texts else literal(_as(kind, value)).text
        written = "cc_choice" if name in texts else kind
        rows.append(
            f'option({written}, {name}, {initial}, "{told}", "{_unit(info)}", {quoted(info.description or "")})'
        )
    if not rows:
        return ["CC_NO_OPTIONS"]
    body = [f"\t{row} \\" for row in rows[:-1]] + [f"\t{rows[-1]}"]
    return [*lines, *([""] if lines else []), "#define OPTIONS(option) \\", *body, "CC_OPTIONS(OPTIONS)"]


def macros(texts: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Texts of choices as numbers."""
    lines = []
    for name, each in texts.items():
        named = (re.sub(r"\W", "_", f"{name}_{text}").upper() for text in each)
        lines += [f"#define {macro} {number}" for number, macro in enumerate(named)]
    return lines


def left_out(config: PluginConfig) -> dict[str, Any]:
    """Options that are fixed in the export, with their values."""
    kinds = dict(option_kinds(type(config)))
    return {name: getattr(config, name) for name in type(config).model_fields if name not in kinds}


def _as(kind: str, value: Any) -> float | int:
    return bool(value) if kind == "bool" else int(value) if kind == "int64_t" else float(value)


def _range(info: FieldInfo) -> str:
    bounds = dict(declared_bounds(info))
    if not bounds:
        return ""
    least = f"[{bounds['ge']!r}" if "ge" in bounds else f"({bounds.get('gt', '-inf')!r}".replace("'", "")
    most = f"{bounds['le']!r}]" if "le" in bounds else f"{bounds.get('lt', 'inf')!r})".replace("'", "")
    return f"{least}, {most}"


def declared_bounds(info: FieldInfo) -> Iterator[tuple[str, float]]:
    """What an option's declaration says of its least and its most: as pydantic names it, and the number."""
    for one in info.metadata:
        for name in ("ge", "gt", "le", "lt"):
            if (bound := getattr(one, name, None)) is not None:
                yield name, bound


def _unit(info: FieldInfo) -> str:
    return next((unit for unit, kind in UNITS.items() if get_args(kind)[1] in info.metadata), "")


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
