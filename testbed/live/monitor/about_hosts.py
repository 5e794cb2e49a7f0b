"""Panels about lab hosts: what was rolled out, whether it is in force, and what the NICs count (`testbed exporter`)."""

from __future__ import annotations

from testbed.live import lab_names
from testbed.live.monitor.panels import FULL, HALF, THIRD, Panel, Query, curves, number, rows
from testbed.live.monitor.queries import Scope


def phase(hosts: Scope) -> Panel:
    return rows(
        "Rollout",
        "The phase that each host's rollout is in. promoted is the end of a good one, rolled_back of a bad one; any "
        "other for longer than its soak time wants somebody to look.",
        f"max by (instance, phase) ({hosts.of(lab_names.PHASE.name)} == 1)",
        ("instance", "phase"),
        width=THIRD,
    )


def policy(hosts: Scope) -> Panel:
    return rows(
        "Policy",
        "The policy that was installed last. Two digests among hosts of one wave: the rollout stopped half way.",
        f"max by (instance, controller, version, sha256) ({hosts.of(lab_names.POLICY.name)})",
        ("instance", "controller", "version", "sha256"),
        width=FULL - THIRD,
    )


def last_apply(hosts: Scope) -> Panel:
    return number(
        "Since the last apply",
        "Wall time since settings were last applied, of the host on which that is longest ago.",
        "s",
        Query(f"time() - min({hosts.of(lab_names.LAST_APPLY.name)})", "since then"),
    )


def drifting(hosts: Scope) -> Panel:
    return number(
        "Settings adrift",
        "Settings that are not what the rollout wants, or that nobody could read. 0 is the only good value.",
        "none",
        Query(f"sum({hosts.of(lab_names.DRIFT.name)})", "adrift"),
        limit=1,
    )


def errors(hosts: Scope) -> Panel:
    return number(
        "Readings that failed",
        "Files and tools that the exporters could not read in the last five minutes; the rest of a scrape is served.",
        "none",
        Query(f"sum(increase({hosts.of(lab_names.ERRORS.asked)}[5m]))", "failed"),
        limit=1,
    )


def registers(hosts: Scope) -> Panel:
    return number(
        "Age of the registers",
        "Since the NICs' registers were read, on the host with the oldest. Beyond a minute they are not believed; the "
        "process that reads them needs root and is another one than the exporter.",
        "s",
        Query(f"max({hosts.of(lab_names.AGE.name)} < Inf)", "age"),
        limit=60,
    )


def adrift(hosts: Scope) -> Panel:
    return rows(
        "What is adrift",
        "One row per setting that is not what the rollout wants or cannot be read. Empty is good.",
        f"max by (instance, device, name) ({hosts.of(lab_names.DRIFT.name)} == 1)",
        ("instance", "device", "name"),
    )


def program(hosts: Scope) -> Panel:
    return rows(
        "Program on the NIC",
        "The state of the PCC program per device. standby: another one has the card; gone: no process, and such a card "
        "may have no congestion control at all.",
        f"max by (instance, device, state) ({hosts.of(lab_names.PCC_STATE.name)} == 1)",
        ("instance", "device", "state"),
    )


def dcqcn(hosts: Scope) -> Panel:
    return rows(
        "DCQCN settings in force",
        "Read back from the driver, in its own units, by the names of MLNX_OFED's sysfs whatever the driver is.",
        f"max by (instance, device, name) ({hosts.of(lab_names.DCQCN.name)})",
        ("instance", "device", "name"),
        values=True,
    )


def parameters(hosts: Scope) -> Panel:
    return rows(
        "Parameters in force on the NIC",
        "Of the algorithms in the NIC's slots, read back by register PPCC; slot 15 is the firmware's own.",
        f"max by (instance, device, slot, name) ({hosts.of(lab_names.PCC_PARAMETER.name)})",
        ("instance", "device", "slot", "name"),
        values=True,
    )


def events(algorithms: Scope) -> Panel:
    return curves(
        "Counters of the program on the NIC",
        "What the program counts per second: events, decisions, limits that it met. DECISIONS at 0 with traffic: it is "
        "not in control.",
        "ops",
        [Query(algorithms.rate(lab_names.PCC_COUNTER.asked), algorithms.legend)],
        width=FULL,
    )


def cnps(nics: Scope) -> Panel:
    return curves(
        "CNPs of the NIC",
        "Congestion notifications per second: those a sender obeyed or ignored, those a receiver sent, and those that "
        "slow restart made up without congestion, which are among the obeyed ones.",
        "pps",
        _rates(
            nics,
            {
                "rp_cnp_handled": "handled",
                "rp_cnp_ignored": "ignored",
                "np_cnp_sent": "sent",
                "roce_slow_restart_cnps": "made up",
            },
        ),
    )


def marks(nics: Scope) -> Panel:
    return curves(
        "Packets with CE",
        "RoCE packets per second that came in with CE. None though a switch marks: the traffic is not in the class "
        "that ECN looks at.",
        "pps",
        _rates(nics, {"np_ecn_marked_roce_packets": "marked"}),
    )


def losses(nics: Scope) -> Panel:
    return curves(
        "Signs of loss",
        "Packets out of order, NAKs, timeouts and requests that came twice, per second. Any that stays above 0: "
        "something drops packets, and a rollout that brought it should be taken back.",
        "pps",
        _rates(
            nics,
            {
                "out_of_sequence": "out of sequence",
                "packet_seq_err": "NAKs",
                "implied_nak_seq_err": "implied NAKs",
                "local_ack_timeout_err": "timeouts",
                "duplicate_request": "duplicates",
                "rnr_nak_retry_err": "not ready",
                "out_of_buffer": "no buffer",
                "rx_icrc_encapsulated": "bad checksum",
            },
        ),
    )


def retransmissions(nics: Scope) -> Panel:
    return curves(
        "Retransmissions",
        "What the NIC sent again per second by adaptive retransmission, its timeouts, and slow restarts.",
        "pps",
        _rates(
            nics,
            {"roce_adp_retrans": "again", "roce_adp_retrans_to": "timeouts", "roce_slow_restart": "slow restarts"},
        ),
    )


def paused(nics: Scope, *, width: int = HALF) -> Panel:
    each = nics._replace(by=(*nics.by, "direction"))
    return curves(
        "Paused by PFC",
        "Share of the time, summed over priorities: rx is the far end holding this host, tx this host holding the far "
        "end; and PFC frames per microsecond (dashed). Lasting tx: the host is slow, and a storm is near.",
        "percentunit",
        [
            Query(each.rate(lab_names.PAUSED.asked), each.called("{{direction}}")),
            Query(f"{each.rate(lab_names.PAUSE_FRAMES.asked)} / 1e6", each.called("{{direction}} frames"), dashed=True),
        ],
        width=width,
    )


def _rates(nics: Scope, counters: dict[str, str]) -> list[Query]:
    return [Query(nics.rate(lab_names.hardware(name).asked), nics.called(what)) for name, what in counters.items()]
