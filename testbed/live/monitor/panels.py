"""The kinds of panel: curves, heat map, one number, a table. Everything that all dashboards do alike is here."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

from grafana_foundation_sdk.builders import common as common_builders
from grafana_foundation_sdk.builders import dashboard as dashboard_builders
from grafana_foundation_sdk.builders import heatmap, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models import heatmap as heatmap_model
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

Panel = Builder[dashboard.Panel]
SOURCE = dashboard.DataSourceRef(type_val="prometheus", uid="${datasource}")
HEIGHT = 8
FULL, HALF, THIRD = 24, 12, 8
LIMIT_COLOR = "red"


class Query(NamedTuple):
    """One query of a panel. ``dashed`` curves are limits and settings, solid ones are measured."""

    expression: str
    legend: str
    dashed: bool = False


class Link(NamedTuple):
    """Where a click on a curve leads."""

    title: str
    url: str


def curves(
    title: str,
    description: str,
    unit: str,
    queries: Sequence[Query],
    *,
    width: int = HALF,
    limit: float | None = None,
    top: float | None = None,
    link: Link | None = None,
) -> Panel:
    """Values over time. Above ``limit``, drawn as a line, all is bad; ``top`` is the least upper end of the axis."""
    panel = (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit(unit)
        .min(0)
        .line_width(1)
        .fill_opacity(8)
        .show_points(common.VisibilityMode.NEVER)
        .span_nulls(False)
        .height(HEIGHT)
        .span(width)
        .tooltip(_TOOLTIP)
        .legend(_legend(common.LegendPlacement.RIGHT if width == FULL else common.LegendPlacement.BOTTOM))
    )
    if top is not None:
        panel = panel.axis_soft_max(top)
    if limit is not None:
        lines = common_builders.GraphThresholdsStyleConfig().mode(common.GraphThresholdsStyleMode.LINE)
        panel = panel.thresholds(_good_below(limit)).thresholds_style(lines)
    if link is not None:
        panel = panel.data_links([dashboard_builders.DashboardLink(link.title).url(link.url)])
    for letter, query in zip(ascii_uppercase, queries, strict=False):
        panel = panel.with_target(_target(letter, query))
        if query.dashed:
            panel = panel.override_by_query(letter, _DASHED)
    return panel


def heat(title: str, description: str, unit: str, buckets: str, *, width: int = HALF) -> Panel:
    """A histogram over time: the darker, the more samples."""
    color = (
        heatmap.HeatmapColorOptions()
        .mode(heatmap_model.HeatmapColorMode.SCHEME)
        .scheme("Turbo")
        .scale(heatmap_model.HeatmapColorScale.EXPONENTIAL)
        .exponent(0.5)
        .fill("dark-orange")
        .steps(64)
    )
    return (
        heatmap.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .height(HEIGHT)
        .span(width)
        .calculate(False)
        .color(color)
        .y_axis(heatmap.YAxisConfig().unit(unit).axis_placement(common.AxisPlacement.LEFT))
        .filter_values(heatmap.FilterValueRange().le(1e-9))
        .cell_gap(1)
        .mode(common.TooltipDisplayMode.SINGLE)
        .show_color_scale(True)
        .with_target(_target("A", Query(buckets, "{{le}}")).format(PromQueryFormat.HEATMAP))
    )


def number(
    title: str, description: str, unit: str, query: Query, *, limit: float | None = None, named: bool = False
) -> Panel:
    """The newest value, large; ``named`` shows the legend beside it."""
    mode = common.BigValueTextMode.VALUE_AND_NAME if named else common.BigValueTextMode.VALUE
    panel = (
        stat.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .unit(unit)
        .height(4)
        .span(4)
        .graph_mode(common.BigValueGraphMode.NONE)
        .text_mode(mode)
        .reduce_options(common_builders.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        .with_target(_target("A", query))
    )
    if limit is None:
        return panel.color_mode(common.BigValueColorMode.NONE)
    return panel.color_mode(common.BigValueColorMode.BACKGROUND_SOLID).thresholds(_good_below(limit))


def rows(
    title: str,
    description: str,
    expression: str,
    columns: Sequence[str],
    *,
    width: int = HALF,
    height: int = HEIGHT,
    values: bool = False,
) -> Panel:
    """A table with one row per series and one column per label, and one with the ``values``."""
    shown = {name: place for place, name in enumerate(columns)}
    hidden = _TIME if values else _VALUE
    return (
        table.Panel()
        .title(title)
        .description(description)
        .datasource(SOURCE)
        .height(height)
        .span(width)
        .with_target(_target("A", Query(expression, "")).format(PromQueryFormat.TABLE).instant())
        .with_transformation(
            dashboard.DataTransformerConfig("organize", options={"excludeByName": hidden, "indexByName": shown})
        )
    )


_TIME = {"Time": True}
_VALUE = {**_TIME, "Value": True}
_TOOLTIP = common_builders.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.DESCENDING)
_DASHED = [
    dashboard.DynamicConfigValue("custom.lineStyle", {"fill": "dash", "dash": [8, 6]}),
    dashboard.DynamicConfigValue("custom.fillOpacity", 0),
]


def _legend(placement: common.LegendPlacement) -> common_builders.VizLegendOptions:
    return (
        common_builders.VizLegendOptions()
        .show_legend(True)
        .display_mode(common.LegendDisplayMode.TABLE)
        .placement(placement)
        .calcs(["lastNotNull", "mean", "max"])
    )


def _good_below(limit: float) -> dashboard_builders.ThresholdsConfig:
    steps = [dashboard.Threshold(None, "green"), dashboard.Threshold(limit, LIMIT_COLOR)]
    return dashboard_builders.ThresholdsConfig().mode(dashboard.ThresholdsMode.ABSOLUTE).steps(steps)


def _target(letter: str, query: Query) -> prometheus.Dataquery:
    return (
        prometheus.Dataquery()
        .datasource(SOURCE)
        .ref_id(letter)
        .expr(query.expression)
        .legend_format(query.legend)
        .range()
    )
