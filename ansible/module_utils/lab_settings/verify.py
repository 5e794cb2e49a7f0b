"""Is the host as the rollout wants it, and does it carry traffic? Counters without traffic prove nothing."""

from __future__ import annotations

import time
import urllib.request
from dataclasses import dataclass, field

from . import batch, counters, dead_man, desired, pcc, state
from .command import call
from .errors import LabError
from .target import Target

NO_GROWTH = ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "tx_pause_storm_error_events")
PROBE = 900.0  # s that a probe may take
EXPORTER = 10.0  # s that it may take to answer, as Prometheus lets it
STORM = "tx_pause_storm_warning_events"


@dataclass(frozen=True)
class Criteria:
    """What verification asks for."""

    probe: list[str] = field(default_factory=list)  # a command that sends traffic and exits 0; empty: none
    seconds: float = 1.0  # at least this long between the two readings of counters
    grows: list[str] = field(default_factory=list)  # counters that have to move, when congestion is induced
    still: list[str] = field(default_factory=lambda: [*NO_GROWTH, STORM])
    most_paused_us: int = 10_000  # growth of tx_prioN_pause_duration that is tolerated
    pcc: bool = False
    exporter: str = ""  # URL of its metrics; empty: not asked
    policy_sha256: str = ""


def verify(target: Target, criteria: Criteria) -> list[str]:
    """Everything that is not as it has to be, by name; empty if the host passes."""
    failures = _drift(target)
    before = counters.read(target)
    failures += _probe(criteria)
    grown = counters.growth(before, counters.read(target))
    failures += [f"counter-still: {name} did not move under traffic" for name in criteria.grows if not grown.get(name)]
    for name in criteria.still:
        if grown.get(name):
            failures.append(f"counter-grew: {name} by {grown[name]}; expected none")
    for name, paused in sorted(grown.items()):
        if name.startswith("tx_prio") and name.endswith("_pause_duration") and paused > criteria.most_paused_us:
            failures.append(f"paused: {name} grew by {paused} us; at most {criteria.most_paused_us} us are tolerated")
    if criteria.pcc:
        program = pcc.inspect(target)
        if program.state != "active":
            failures.append(f"pcc-{program.state}: the PCC program of {target.device} does not control the card")
    if criteria.exporter:
        failures += _exporter(criteria)
    return failures


def passed(target: Target, rollout: str) -> bool:
    """Let a host that has passed soak, without its dead man's switch; returns whether that was armed.

    Raises LabError if it went off while the host was verified: what was verified is not active any more.
    """
    if state.phase_of(target, rollout) is None:
        return False
    armed = dead_man.disarm()
    if state.phase_of(target, rollout) != "promoted":  # asked again: from here on nothing can go off
        state.update(target, phase="soak")
    return armed


def drift(target: Target) -> dict[str, tuple[str | None, str | None]]:
    """Settings that differ from ``rollout.json``: title to (wanted, found)."""
    own, settings = desired.load(target)
    changes = batch.plan(settings, batch.backends_of(own))
    return {change.setting.title: (change.setting.value, change.before) for change in changes}


def _drift(target: Target) -> list[str]:
    try:
        return [f"drift: {name} is {found!r}, not {wanted!r}" for name, (wanted, found) in drift(target).items()]
    except LabError as error:
        return [f"drift: {error}"]


def _probe(criteria: Criteria) -> list[str]:
    started = time.monotonic()
    failures = []
    if criteria.probe:
        done = call(*criteria.probe, patience=PROBE)
        if done.status:
            output = (done.err or done.out).strip().splitlines()[-1:]
            failures.append(f"probe: {' '.join(criteria.probe)}: exit status {done.status}: {' '.join(output)}")
    time.sleep(max(0.0, criteria.seconds - (time.monotonic() - started)))
    return failures


def _exporter(criteria: Criteria) -> list[str]:
    try:
        with urllib.request.urlopen(criteria.exporter, timeout=EXPORTER) as answer:
            text = answer.read().decode()
    except OSError as error:
        return [f"exporter: {criteria.exporter}: {error}"]
    if criteria.policy_sha256 and criteria.policy_sha256 not in text:
        return [f"exporter-policy: {criteria.exporter} does not show policy {criteria.policy_sha256[:12]}"]
    return []
