// Draws a page's plots. Colours such as "@accent" are CSS variables, so the page's theme is the only one.
"use strict";
const PRINT_WIDTH = 680; // of A4 and of letter between the margins, in CSS pixels
const PRINT_HEIGHT = [225, 440]; // of a plot and of a tall one: three and one and a half to a page
const drawn = new Map(); // element -> figure

function coloured(value, style) {
  if (typeof value === "string" && value.startsWith("@")) return style.getPropertyValue("--" + value.slice(1)).trim();
  if (Array.isArray(value)) return value.map((item) => coloured(item, style));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, style)]));
  }
  return value;
}

function draw(element, figure) {
  drawn.set(element, figure);
  const style = getComputedStyle(document.documentElement);
  const printing = "print" in document.documentElement.dataset;
  const own = figure.layout;
  const axis = { gridcolor: "@rule", linecolor: "@rule", zeroline: false, automargin: true };
  const layout = {
    ...own,
    margin: { l: 48, r: 12, t: 8, b: 40 },
    width: printing ? PRINT_WIDTH : undefined,
    height: printing ? PRINT_HEIGHT[element.classList.contains("tall") ? 1 : 0] : undefined,
    autosize: !printing,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 12, color: "@ink" },
    hovermode: "closest",
    hoverlabel: { bgcolor: "@panel", bordercolor: "@faint", font: { color: "@ink" } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: "@faint", activecolor: "@accent" },
    showlegend: own.showlegend ?? (figure.data.length > 1 && figure.data.length <= 8),
    legend: { orientation: "h", y: 1, yanchor: "bottom", x: 0 },
  };
  for (const key of ["xaxis", ...Object.keys(own).filter((name) => name.startsWith("yaxis")), "yaxis"]) {
    layout[key] = { ...axis, ...own[key], title: { standoff: 8, ...own[key]?.title } };
  }
  const config = { responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg" } };
  const first = !element.classList.contains("js-plotly-plot");
  Plotly.react(element, coloured(figure.data, style), coloured(layout, style), config);
  if (first && own.meta === "over time") element.on("plotly_relayout", (change) => zoomTogether(element, change));
}

// What is zoomed into on one time axis is what all show: cause and effect are in different plots.
let zooming = false;
function zoomTogether(element, change) {
  const range = change["xaxis.range"] ?? [change["xaxis.range[0]"], change["xaxis.range[1]"]];
  const whole = change["xaxis.autorange"];
  if (zooming || (!whole && range[0] === undefined)) return;
  zooming = true;
  const others = [...drawn].filter(([other, figure]) => other !== element && figure.layout.meta === "over time");
  Promise.all(
    [...others, ...(whole ? [[element, drawn.get(element)]] : [])].map(([other, figure]) =>
      Plotly.relayout(other, { "xaxis.range": whole ? [...figure.layout.xaxis.range] : [...range] })
    )
  ).finally(() => (zooming = false));
}

function redraw() {
  for (const [element, figure] of drawn) draw(element, figure);
}

JSON.parse(document.getElementById("figures").textContent).forEach((figure, number) =>
  draw(document.getElementById("plot" + number), figure)
);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

// Paper is light and narrower than most screens.
let opened = [];
addEventListener("beforeprint", () => {
  document.documentElement.dataset.print = "";
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const one of opened) one.open = true;
  redraw();
});
addEventListener("afterprint", () => {
  delete document.documentElement.dataset.print;
  for (const one of opened) one.open = false;
  redraw();
});
