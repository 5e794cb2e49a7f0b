"""What is not as it was when a result was made: for whoever runs its experiment again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from testbed.experiment.resolved import Resolved
from testbed.results.flat import flat
from testbed.results.manifest import Manifest, PluginEntry, machine
from testbed.results.versions import versions

NOT_THERE = "not there"


def differences(was: Manifest, held: Mapping[str, Any], now: Resolved) -> list[str]:
    """Between a result and an experiment that is about to run, one line each; empty if the same code runs the same.

    ``held`` is the result's experiment as it is found here, see `testbed.results.brought.experiment`.
    """
    tuned = was.tuner is not None
    plugins = [
        (was.controller, now.controller),
        *zip(was.controllers, [one.plugin for one in now.others], strict=False),
    ]
    plugins += [(was.tuner, now.tuner)] if was.tuner else []
    inputs = {one.key: _short(one.sha256) for one in now.inputs(tuned=tuned)}
    experiment = json.loads(now.as_json())
    if was.speed is not None and experiment["time"]["dilation"] == "auto":  # it is measured again
        experiment["time"]["dilation"] = held["time"]["dilation"]
    return [
        *_changed("", was.versions, versions()),
        *(line for before, after in plugins for line in _code(before, PluginEntry.of(after))),
        *_changed("content of ", {one.key: _short(one.sha256) for one in was.inputs}, inputs),
        *_changed("machine: ", flat(was.machine.model_dump()), flat(machine().model_dump())),
        *_changed("", flat(held), flat(experiment)),
    ]


def _code(was: PluginEntry, now: PluginEntry) -> Iterator[str]:
    if was.sha256 != now.sha256:
        yield f"code of {now.name} ({now.file}): SHA-256 was {_short(was.sha256)} and is {_short(now.sha256)}"


def _changed(what: str, was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for key in dict.fromkeys([*was, *now]):
        before, after = was.get(key, NOT_THERE), now.get(key, NOT_THERE)
        if before != after:
            yield f"{what}{key} was {before} and is {after}"


def _short(sha256: str) -> str:
    return sha256[:12]
