"""The dashboards: which panels, in which order, over which series; and what all dashboards share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import count

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard

from testbed.live.monitor import about_flows as flows
from testbed.live.monitor import about_hosts as hosts
from testbed.live.monitor import about_ports as ports
from testbed.live.monitor import about_runs as runs
from testbed.live.monitor import about_tuners as tuners
from testbed.live.monitor.panels import FULL, SOURCE, THIRD, Link, Panel, Query, number
from testbed.live.monitor.provisioning import SOURCE_UID
from testbed.live.monitor.queries import Scope

SCHEMA_VERSION = 39  # Grafana 10.4 and 11.0; newer ones read older schemas
TAG = "testbed"
ONE, MANY = 'instance="$instance"', 'instance=~"$instance"'
Rows = Mapping[str, Sequence[Panel]]

RUN = Scope((ONE,), ("instance",))
RACK_PORTS = Scope((ONE, 'port=~"$port"'), ("instance", "port"), "{{port}}")
RACK_FLOWS = Scope((ONE,), ("instance", "flow"), "{{flow}}")
FLOW = Scope((ONE, 'flow=~"$flow"'), ("instance", "flow"), "{{flow}}")
TUNERS = Scope((ONE,), ("instance", "switch"), "{{switch}}")
TUNER_PORT = Scope((ONE, 'port="$port"'), ("instance", "port"))
HOST = Scope((MANY,), ("instance",), "{{instance}}")
NICS = Scope((MANY,), ("instance", "device"), "{{instance}} {{device}}")
ALGORITHMS = Scope((MANY,), ("instance", "device", "slot", "name"), "{{instance}} {{device}} {{slot}} {{name}}")
HOST_PORTS = Scope((MANY,), ("instance", "port"), "{{instance}} {{port}}")

TO_FLOW = Link(
    "This flow",
    "/d/testbed-flow?var-instance=${__field.labels.instance}&var-flow=${__field.labels.flow}&${__url_time_range}",
)
TO_TUNER = Link(
    "This port's tuner",
    "/d/testbed-tuner?var-instance=${__field.labels.instance}&var-port=${__field.labels.port}&${__url_time_range}",
)


def all_dashboards() -> dict[str, str]:
    """File name (without folder) to content."""
    boards = (_rack(), _flow(), _tuner(), _lab_host())
    return {f"{board.uid.removeprefix('testbed-')}.json": _as_json(board) for board in boards if board.uid}


def _rack() -> dashboard.Dashboard:
    busiest = Query(RUN.total(ports.used(RACK_PORTS), "max"), "busiest")
    return _board(
        "rack",
        "Rack",
        "One run as a whole: its switch, its flows, and whether to believe it.",
        [_instance(runs.INFO), _choice("port", "Port", ports.INFO, ONE, everything=True)],
        {
            "The run": [
                runs.nominal_time(RUN),
                runs.progress(RUN),
                runs.dilation(RUN),
                runs.worst_distortion(RUN),
                number(
                    "Busiest port",
                    "Utilisation of the busiest of the chosen ports: the bottleneck's, when there is one.",
                    "percentunit",
                    busiest,
                ),
                number(
                    "Fairness",
                    "Jain's index of the flows' goodput; 1 when all get the same.",
                    "none",
                    flows.fairness_now(RUN),
                ),
                runs.runs(RUN, width=FULL),
            ],
            "Switch": [
                ports.utilisation(RACK_PORTS, link=TO_TUNER),
                ports.queue(RACK_PORTS, link=TO_TUNER),
                ports.queue_heat(RACK_PORTS, width=FULL - THIRD),
                ports.where(RACK_PORTS, width=THIRD),
                ports.marks(RACK_PORTS),
                ports.drops(RACK_PORTS),
                ports.pauses(RACK_PORTS),
                ports.ingress(RACK_PORTS),
            ],
            "Flows": [
                flows.goodput(RACK_FLOWS, width=FULL, link=TO_FLOW),
                flows.fairness(RUN),
                flows.rtt(RUN),
                flows.notifications(RUN),
                flows.losses(RUN),
            ],
            "Is it to be believed?": [
                runs.distortion(RUN, width=FULL),
                runs.decisions(RUN),
                runs.decided(RUN),
            ],
        },
    )


def _flow() -> dashboard.Dashboard:
    return _board(
        "flow",
        "Flow",
        "One flow, or a few beside each other: what it gets, what it hears, what its controller decides. A run of very "
        "many flows counts all flows of a sending host as one instead.",
        [
            _instance(flows.INFO),
            _choice("src", "Sender", flows.INFO, ONE, everything=True),
            _choice("flow", "Flow", flows.INFO, f'{ONE},src=~"$src"', several=True),
        ],
        {
            "What it gets": [flows.goodput_and_rate(FLOW), flows.window_and_inflight(FLOW)],
            "What it waits": [flows.rtt(FLOW), flows.rtt_heat(FLOW)],
            "What it hears": [
                flows.marked_share(FLOW),
                flows.notifications(FLOW),
                flows.losses(FLOW),
                flows.packets(FLOW),
            ],
            "Who it is": [flows.whose(FLOW, width=FULL)],
        },
    )


def _tuner() -> dashboard.Dashboard:
    return _board(
        "tuner",
        "Tuner",
        "One switch port: the ECN thresholds in force, and what they do to its queue.",
        [_instance(ports.KMIN), _port_by_traffic()],
        {
            "Thresholds against queue": [
                ports.queue(TUNER_PORT),
                ports.queue_found(TUNER_PORT),
                ports.queue_heat(TUNER_PORT, width=FULL),
            ],
            "What was set": [ports.thresholds(TUNER_PORT), ports.steepness(TUNER_PORT)],
            "What it did": [
                ports.marks(TUNER_PORT),
                ports.utilisation(TUNER_PORT),
                ports.drops(TUNER_PORT),
                flows.rtt(RUN),
            ],
            "How it decides": [
                tuners.reward(TUNERS),
                tuners.states(TUNERS),
                tuners.decisions(TUNERS),
                tuners.cost(TUNERS),
            ],
        },
    )


def _lab_host() -> dashboard.Dashboard:
    return _board(
        "lab-host",
        "Lab host",
        "Per machine: what was rolled out and whether it is in force, what its NICs count (`testbed exporter`), and "
        "the panels of a rack, whose names agents on real hosts export too. On real hosts the dilation is 1.",
        [_choice("instance", "Host", runs.DILATION, "", everything=True)],
        {
            "What was rolled out": [
                hosts.drifting(HOST),
                hosts.last_apply(HOST),
                hosts.registers(HOST),
                hosts.errors(HOST),
                hosts.phase(HOST),
                hosts.policy(HOST),
                hosts.adrift(HOST),
                hosts.program(HOST),
                hosts.dcqcn(HOST),
                hosts.parameters(HOST),
            ],
            "NICs": [
                hosts.cnps(NICS),
                hosts.marks(NICS),
                hosts.losses(NICS),
                hosts.retransmissions(NICS),
                hosts.paused(NICS, width=FULL),
                hosts.events(ALGORITHMS),
            ],
            "Flows of the host": [
                flows.goodput(HOST),
                flows.rtt(HOST),
                flows.marked_share(HOST),
                flows.notifications(HOST),
                flows.losses(HOST),
                flows.window_and_inflight(HOST),
            ],
            "Ports of the host": [
                ports.utilisation(HOST_PORTS),
                ports.queue(HOST_PORTS),
                ports.marks(HOST_PORTS),
                ports.drops(HOST_PORTS),
            ],
            "Can the host keep up?": [runs.distortion(HOST), runs.decisions(HOST)],
        },
        refresh="5s",
    )


def _board(
    name: str,
    title: str,
    description: str,
    variables: Sequence[builders.QueryVariable],
    rows: Rows,
    *,
    refresh: str = "1s",
) -> dashboard.Dashboard:
    links = builders.DashboardLink("Dashboards").type(dashboard.DashboardLinkType.DASHBOARDS).tags([TAG])
    board = (
        builders.Dashboard(f"testbed: {title}")
        .uid(f"testbed-{name}")
        .description(description)
        .tags([TAG])
        .timezone("browser")
        .editable()
        .tooltip(dashboard.DashboardCursorSync.CROSSHAIR)
        .time("now-5m", "now")
        .refresh(refresh)
        .timepicker(builders.TimePicker().refresh_intervals(["1s", "5s", "10s", "30s", "1m"]))
        .link(links.include_vars(True).keep_time(True))
        .with_variable(_source())
    )
    for variable in variables:
        board = board.with_variable(variable)
    built = board.build()
    built.schema_version = SCHEMA_VERSION
    built.panels = _laid_out(rows)
    return built


def _laid_out(rows: Rows) -> list[dashboard.Panel | dashboard.RowPanel]:
    """From left to right and from top to bottom, a heading above every row."""
    numbers, top = count(1), 0
    placed: list[dashboard.Panel | dashboard.RowPanel] = []
    for title, panels in rows.items():
        placed.append(builders.Row(title).id(next(numbers)).grid_pos(dashboard.GridPos(1, FULL, 0, top)).build())
        left, line, top = 0, 0, top + 1
        for panel in (one.build() for one in panels):
            assert panel.grid_pos is not None  # every kind of panel sets its size
            if left + panel.grid_pos.w > FULL:
                left, line, top = 0, 0, top + line
            panel.id_val, panel.grid_pos.x, panel.grid_pos.y = next(numbers), left, top
            left, line = left + panel.grid_pos.w, max(line, panel.grid_pos.h)
            placed.append(panel)
        top += line
    return placed


def _source() -> builders.DatasourceVariable:
    chosen = dashboard.VariableOption(selected=True, text="testbed", value=SOURCE_UID)
    return builders.DatasourceVariable("datasource").label("Prometheus").type("prometheus").current(chosen)


def _instance(metric: str) -> builders.QueryVariable:
    return _choice("instance", "Run at", metric, "")


def _choice(
    name: str, label: str, metric: str, select: str, *, everything: bool = False, several: bool = False
) -> builders.QueryVariable:
    """A label's values: one of them, ``several``, or ``everything`` unless something is chosen."""
    series = f"{metric}{{{select}}}" if select else metric
    choice = _query(name, label, f"label_values({series}, {name})")
    choice = choice.sort(dashboard.VariableSort.NATURAL_ASC).multi(several or everything)
    if not everything:
        return choice
    chosen = dashboard.VariableOption(selected=True, text=["All"], value=["$__all"])
    return choice.include_all(True).all_value(".*").current(chosen)


def _port_by_traffic() -> builders.QueryVariable:
    """The busiest port first: that one is shown until another is chosen."""
    choice = _query("port", "Port", f"query_result(sort_desc({ports.TX_BYTES}{{{ONE}}}))")
    return choice.regex('/[{,]port="([^"]+)"/').sort(dashboard.VariableSort.DISABLED)


def _query(name: str, label: str, query: str) -> builders.QueryVariable:
    return (
        builders.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query(query)
        .refresh(dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED)
    )


def _as_json(board: dashboard.Dashboard) -> str:
    return json.dumps(board, cls=JSONEncoder, indent=1, sort_keys=True) + "\n"
