"""A plugin that is named beside an experiment: what stays of the file's choice, and what comes with the plugin."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from testbed.controller import ControllerBase, Signal
from testbed.errors import BadInput
from testbed.experiment.document import Document
from testbed.experiment.model import DEFAULT_TUNER
from testbed.registry import absolute

TARGETED = re.compile(r"\s*(controller|tuner)\[([^]]*)\]\.(.+)")  # controller[dcqcn].window
MOST_TOLD = 6  # options


def choose(document: Document, kind: str, name: str, option: str) -> str:
    """Put a plugin there, and say what became of the file's options: the plugin that the file has keeps them."""
    had, options = _choice(document, kind)
    wanted = absolute(name, Path())
    told = _told(options)
    if wanted == had:
        if kind not in document.data:  # the default, which now is named
            document.put((kind,), wanted, f"{option} {name}")
        return f"{kind} {name} as in the experiment, {told}" if told else ""
    document.put((kind,), wanted, f"{option} {name}")
    return f"{kind} {name} replaces {had}" + (f" and its options ({told})" if told else "")


def bring(document: Document, name: str, form: type[ControllerBase], *, new: bool) -> str:
    """What a controller needs of switches: its thresholds, unless a tuner or a preset was named. Says what came.

    ``new``: it is another one than the experiment's.
    """
    came, wanted = ["INT in every packet"] if new and Signal.INT in form.signals else [], form.thresholds
    tuner, options = _choice(document, "tuner")
    stays = ""
    if wanted and "preset" not in options and not _is_named(document):
        document.put(("tuner", "preset"), wanted, f"controller {name}")
        came.insert(0, f"tuner.preset={wanted}")
    elif wanted and (tuner, options.get("preset")) != (DEFAULT_TUNER, wanted):
        stays = ", ".join(filter(None, (tuner, _told(options))))
    found = [f"it brings {' and '.join(came)}"] if came else []
    if stays:
        found.append(f"it is made for tuner.preset={wanted}, but the tuner stays: {stays}")
    return "; ".join(found)


def target(key: str) -> tuple[str, str, str]:
    """``controller[dcqcn].window`` is for experiments with that controller: kind, name, ``controller.window``.

    Kind and name are empty for a key that is for all.
    """
    found = TARGETED.fullmatch(key)
    return (found[1], absolute(found[2].strip(), Path()), f"{found[1]}.{found[3].strip()}") if found else ("", "", key)


def aimed(document: Document, key: str, origin: str) -> str:
    """The key that is meant. Raises BadInput where it is for another plugin than the experiment's."""
    kind, name, plain = target(key)
    if kind and name != (now := name_of(document, kind)):
        raise BadInput(f"{origin}: the {kind} is {now}, not {name}; leave it out, or name that {kind}")
    return plain


def name_of(document: Document, kind: str) -> str:
    """Of the plugin that is chosen now."""
    return _choice(document, kind)[0]


def as_chosen(document: Document, name: str) -> dict[str, Any]:
    """A controller beside the experiment's, with its options if it is the same one."""
    had, options = _choice(document, "controller")
    wanted = absolute(name, Path())
    return {"name": wanted, **(options if wanted == had else {})}


def aimed_at_pair(settings: Sequence[str], names: Sequence[str], pair: tuple[str, str]) -> list[str]:
    """Settings for a run with two of these controllers, of which the second is the first of `controllers`.

    Raises BadInput for one that is for a controller which is not among the names.
    """
    allowed, (first, second) = [absolute(name, Path()) for name in names], (absolute(name, Path()) for name in pair)
    found = []
    for setting in settings:
        key, _, text = setting.partition("=")
        kind, name, plain = target(key)
        if kind != "controller":
            found.append(setting)
            continue
        if name not in allowed:
            raise BadInput(f"--set {setting}: {name} is none of the controllers; allowed: {', '.join(allowed)}")
        option = plain.removeprefix("controller.")
        found += [
            f"{at}.{option}={text}" for at, one in (("controller", first), ("controllers.0", second)) if one == name
        ]
    return found


def _choice(document: Document, kind: str) -> tuple[str, Mapping[str, Any]]:
    choice = document.data.get(kind)
    name = choice.get("name") if isinstance(choice, dict) else choice
    options = {key: value for key, value in choice.items() if key != "name"} if isinstance(choice, dict) else {}
    return name if isinstance(name, str) else DEFAULT_TUNER if kind == "tuner" else "", options


def _is_named(document: Document) -> bool:
    choice = document.data.get("tuner")
    return isinstance(choice, str) or (isinstance(choice, dict) and "name" in choice)


def _told(options: Mapping[str, Any]) -> str:
    some = [f"{key}: {value}" for key, value in list(options.items())[:MOST_TOLD]]
    return ", ".join(some) + (f" and {len(options) - MOST_TOLD} more" if len(options) > MOST_TOLD else "")
