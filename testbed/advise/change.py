"""The change itself, as files: SONiC's patch and lines, Ansible's variables, Prometheus' rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from testbed.advise.advice import Advice
from testbed.advise.alarms import rules
from testbed.advise.evidence import Settings
from testbed.advise.sonic_change import SonicChange, sonic_change
from testbed.engines.lab import ansible_vars
from testbed.units import RATIO_UNITS, SIZE_UNITS, parse

RED = ("kmin", "kmax", "pmax")


@dataclass
class Change:
    """Files by name, and what to know about them."""

    files: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def change(advice: Advice) -> Change | None:
    """None if nothing is to be changed. Raises BadInput."""
    advised = advice.checked.advised
    if advice.verdict.word != "change" or advised is None:
        return None
    made, candidate = Change(), advised.candidate
    texts = dict(one.split("=", 1) for one in candidate)
    profile = ""
    if advice.task.question.switch:
        sonic = sonic_change(Path(advice.task.question.switch).expanduser(), texts)
        profile = sonic.profiles[0] if sonic.profiles else ""
        _sonic(made, sonic)
    else:
        made.files["change.txt"] = "".join(f"--set '{one}'\n" for one in candidate)
        made.notes.append("No --switch was given: these are settings of the experiment.")
    _ansible(made, advice, texts, profile)
    workload = advice.task.workloads[0].present
    rate = workload.layout.shape.ports[workload.layout.bottleneck].link.rate
    seen = [run for runs in advice.beside.runs(candidate, advice.task.check_draws).values() for run in runs]
    made.files["alarms.yml"] = yaml.safe_dump(rules(seen, rate), sort_keys=False, allow_unicode=True)
    made.notes.append("alarms.yml: what to watch after it; limits are one and a half times the highest of the check.")
    return made


def _sonic(made: Change, sonic: SonicChange) -> None:
    if sonic.patch:
        made.files["config_db.patch.json"] = f"{json.dumps(sonic.patch, indent=2)}\n"
        made.files["config_db.undo.json"] = f"{json.dumps(sonic.undo, indent=2)}\n"
        made.notes.append(
            "On one switch first: sudo config apply-patch config_db.patch.json; "
            "back: sudo config apply-patch config_db.undo.json"
        )
    if sonic.lines:
        made.files["ecnconfig.sh"] = "".join(f"{one}\n" for one in sonic.lines)
        made.notes.append("Or the WRED profile alone, with ecnconfig, in this order.")
    made.notes += sonic.shared
    if sonic.other:
        made.notes.append(f"Not in a switch's configuration: {', '.join(sonic.other)}")


def _ansible(made: Change, advice: Advice, texts: Mapping[str, str], profile: str) -> None:
    """One profile: that of the first queue whose thresholds change."""
    place = next((key.rpartition(".")[0] for key in texts if key.endswith(".kmin")), "")
    if not place:
        return
    said = [texts.get(f"{place}.{name}", advice.space.now.get(f"{place}.{name}", "")) for name in RED]
    if not all(said):
        return
    tuner = ", ".join(f"{name}: {text}" for name, text in zip(RED, said, strict=True))
    settings: Settings = (f"tuner={{name: static, {tuner}}}", *([] if place == "tuner" else [f"{place}=tuner"]))
    variables: dict[str, Any] = ansible_vars.variables(advice.task.workloads[0].resolved(1, settings))
    kmin, kmax = (round(parse(text, SIZE_UNITS, "")) for text in said[:2])
    variables |= {
        "switch_ecn_driver": "sonic" if profile else "none",
        "switch_ecn_profile": profile,
        "switch_ecn_kmin": kmin,
        "switch_ecn_kmax": kmax,
        "switch_ecn_pmax": round(100 * parse(said[2], RATIO_UNITS, "")),
    }  # fmt: skip
    made.files["ansible.yml"] = yaml.safe_dump(variables, sort_keys=False, allow_unicode=True)
    made.notes.append(
        "With Ansible, a canary first: ansible-playbook switches.yml -e @ansible.yml --limit SWITCH; "
        "then all, without --limit; back: ansible-playbook rollback.yml -e rollout_hosts=switches -e rollout_id=ID "
        "(docs/howto/lab.md)"
    )
