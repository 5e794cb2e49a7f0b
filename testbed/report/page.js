// Draws the report's plots. Colours such as "@accent" are CSS variables, so the page's theme is the only one.
"use strict";
const figures = JSON.parse(document.getElementById("figures").textContent);

function coloured(value, style) {
  if (typeof value === "string" && value.startsWith("@")) return style.getPropertyValue("--" + value.slice(1)).trim();
  if (Array.isArray(value)) return value.map((item) => coloured(item, style));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, coloured(item, style)]));
  }
  return value;
}

function draw() {
  const style = getComputedStyle(document.documentElement);
  const axis = { gridcolor: "@rule", linecolor: "@rule", zeroline: false, automargin: true, title: { standoff: 8 } };
  figures.forEach((figure, number) => {
    const own = figure.layout;
    const layout = {
      ...own,
      xaxis: { ...axis, ...own.xaxis },
      yaxis: { ...axis, ...own.yaxis },
      margin: { l: 48, r: 12, t: 8, b: 40 },
      paper_bgcolor: "@paper",
      plot_bgcolor: "@paper",
      font: { family: "system-ui, sans-serif", size: 12, color: "@ink" },
      hovermode: "closest",
      showlegend: own.showlegend ?? (figure.data.length > 1 && figure.data.length <= 8),
      legend: { orientation: "h", y: 1, yanchor: "bottom", x: 0 },
    };
    const config = { responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg" } };
    Plotly.react("plot" + number, coloured(figure.data, style), coloured(layout, style), config);
  });
}

draw();
for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", draw);
