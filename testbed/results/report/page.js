// Draws a page's plots, names what the pointer is at, and zooms into all time axes together.
"use strict";
const PRINT_WIDTH = 680; // of A4 and of letter between the margins, in CSS pixels
const PRINT_HEIGHT = [225, 440]; // of a plot and of a tall one: three and one and a half to a page
const PRINT_FINER = 3; // than a screen
const charts = [];
const tip = make("div", document.body, { className: "tip", hidden: true });

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

if (!self.DecompressionStream) {
  document.querySelector(".hint").textContent = "The plots need a newer browser: one of 2023 or later.";
}

// What the element of this id holds: JSON, deflated, in base64.
function held(id) {
  const packed = new Blob([bytes(document.getElementById(id).textContent)]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

// The figure of a plot as it is in the page, with its numbers in their places.
function unpacked(figure) {
  const numbers = figure.numbers.map((text) => new Float32Array(bytes(text).buffer));
  const line = (one) => ({ ...one, x: numbers[one.x], y: numbers[one.y], low: one.low === null ? null : numbers[one.low] });
  return { ...figure, panels: figure.panels.map((panel) => ({ ...panel, lines: panel.lines.map(line) })) };
}

function drawn(element, figure, events = {}) {
  const chart = new Chart(element, unpacked(figure), { zoomed: (x) => zoomTogether(chart, x), pointed, ...events });
  charts.push(chart);
  return chart;
}

// What is zoomed into on one time axis is what all show: cause and effect are in different plots.
function zoomTogether(chart, x) {
  if (!chart.figure.x.is_time) return;
  for (const other of charts) if (other !== chart && other.figure.x.is_time) other.zoom(x, false);
}

function pointed(chart, near) {
  if (!near && tip.chart !== chart) return;
  tip.hidden = !near;
  if (!near) return;
  const { line, index } = near;
  tip.chart = chart;
  tip.textContent = `${line.name}: ${digits(line.y[index])} at ${digits(line.x[index])}`;
}

addEventListener("pointermove", ({ clientX, clientY }) => {
  const left = Math.min(clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 8);
  tip.style.transform = `translate(${Math.max(4, left)}px, ${clientY + 16}px)`;
});

held("figures").then((figures) =>
  figures.forEach((figure, number) => drawn(document.getElementById("plot" + number), figure))
);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((chart) => chart.draw()));

// Paper is light and narrower than most screens.
let opened = [];
addEventListener("beforeprint", () => {
  document.documentElement.dataset.print = "";
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const one of opened) one.open = true;
  for (const chart of charts) {
    const tall = chart.place.classList.contains("tall") ? 1 : 0;
    Object.assign(chart.place.style, { width: PRINT_WIDTH + "px", height: PRINT_HEIGHT[tall] + "px" });
    chart.draw(PRINT_FINER);
  }
});
addEventListener("afterprint", () => {
  delete document.documentElement.dataset.print;
  for (const one of opened) one.open = false;
  for (const chart of charts) {
    Object.assign(chart.place.style, { width: "", height: "" });
    chart.draw();
  }
});
