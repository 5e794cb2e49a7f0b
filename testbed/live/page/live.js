// The page: what came from the server, what is shown of it, and when it is drawn.
const RETRIES = [0.5, 1, 2, 4, 8, 15, 15, 15, 15, 15]; // s between attempts; then only by hand

const view = {
  scene: null, history: new History(), newest: null, ended: false, port: 0, hover: null, paused: false, font: "",
  colours: new Map(),

  colour(name) {
    if (!this.colours.has(name)) {
      this.colours.set(name, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
    }
    return this.colours.get(name);
  },

  // Draw once at the next frame, however often it is asked for; never while nobody looks.
  redraw() {
    if (this.asked || document.hidden) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  },

  draw() {
    const { history, newest } = this;
    if (!this.scene) return;
    const row = this.hover ? history.at(this.hover.time) : history.rows.at(-1);
    if (!this.paused || this.hover) for (const chart of charts) chart.tell(row);
    if (this.paused) return charts.forEach((chart) => chart.hover());
    for (const chart of charts) chart.draw();
    ranks.draw();
    if (newest && newest !== this.shown) {
      panels.update(newest);
      topology.draw(newest);
      if (this.ended) panels.end(this.ended);
    }
    this.shown = newest;
    document.body.dataset.updates = history.updates;
  },

  // Show the curves of this port.
  choose(port) {
    this.port = port;
    document.getElementById("port").value = port;
    topology.aim(port);
    edit.aim(port);
    for (const chart of charts) chart.forget();
    this.shown = null;
    this.redraw();
  },

  showTip(x, y, lines) {
    items(lines, tip, "div");
    tip.hidden = false;
    const left = Math.min(x + 14, document.documentElement.clientWidth - tip.offsetWidth - 8);
    const above = y + 16 + tip.offsetHeight > innerHeight;
    tip.style.transform = `translate(${Math.max(4, left)}px, ${above ? y - tip.offsetHeight - 10 : y + 16}px)`;
  },

  hideTip() {
    tip.hidden = true;
  },
};

const tip = document.getElementById("tip");
const panels = new Panels(view);
const topology = new Topology(view);
const ranks = new Ranks(view);
const edit = new Edit(view);
const ofPort = (name) => (row) => row[name][view.port];
const many = (name) => [
  { name: "min", read: (row) => spread(row, name).least, unseen: true },
  { name: "mean", colour: "ink", read: (row) => spread(row, name).mean },
  { name: "max", read: (row) => spread(row, name).most, unseen: true },
];
const guide = { dash: [4, 3], width: 1.2, guide: true, step: true };
const charts = [
  new Chart("queue", view, { kind: "bytes", lines: [
    { name: "now", colour: "accent", fill: "band1", read: ofPort("queue") },
    { name: "Kmin", colour: "c2", read: ofPort("kmin"), ...guide },
    { name: "Kmax", colour: "limit", read: ofPort("kmax"), ...guide },
    { name: "Pmax", kind: "share", read: ofPort("pmax"), unseen: true }] }),
  new Chart("goodput", view, { kind: "rate", many: "goodput", lines: many("goodput") }),
  new Chart("rate", view, { kind: "rate", many: "rate", log: true, lines: many("rate") }),
  new Chart("rtt", view, { kind: "time", lines: [
    { name: "p50", colour: "accent", read: (row) => row.p50 },
    { name: "p99", colour: "c1", read: (row) => row.p99 },
    { name: "base", colour: "c2", read: () => view.scene?.base_rtt, ...guide }] }),
  new Chart("utilisation", view, { kind: "share", top: 1, lines: [
    { name: "utilisation", colour: "accent", fill: "band1", read: ofPort("utilisation") },
    { name: "marked", colour: "c1", read: ofPort("marked") }] }),
  new Chart("fairness", view, { kind: "plain", top: 1, lines: [{ name: "Jain", colour: "c3", read: (row) => row.jain }] }),
];
const rateChart = charts[2];
const shareChart = new Chart("share", view, { kind: "share", top: 1 });
charts.push(shareChart);

// A single controller has all: nothing to show.
function chooseControllers({ controllers }) {
  shareChart.figure.hidden = controllers.length < 2;
  shareChart.what.lines = controllers.map((name, i) => ({ name, colour: "c" + (i % FEW), read: (row) => row.share[i] }));
  shareChart.legend();
}

// A controller that sets windows and no rates is shown by its windows.
function chooseLimit(flows) {
  const name = flows.rate.every((rate) => rate === null) && flows.window.some((size) => size !== null) ? "window" : "rate";
  if (rateChart.what.many === name) return;
  Object.assign(rateChart.what, { many: name, kind: name === "rate" ? "rate" : "bytes", lines: many(name) });
  document.querySelector("#rate h2").textContent = name === "rate" ? "Rate set by the controller" : "Window set by the controller";
  rateChart.legend();
  rateChart.forget();
}

const handlers = {
  scene(scene) {
    Object.assign(view, { scene, history: new History(), newest: null, shown: null, ended: false, hover: null });
    view.port = Math.max(0, scene.ports.findIndex((port) => port.name === scene.bottleneck));
    const options = scene.ports.map((port, i) => new Option(`${port.name} → ${port.to}`, i));
    document.getElementById("port").replaceChildren(...options);
    chooseControllers(scene);
    panels.scene();
    topology.build();
    edit.scene();
    ranks.scene();
    view.choose(view.port);
  },
  stage({ text }) {
    put("clock", text);
  },
  update(update) {
    if (!view.scene) return;
    chooseLimit(update.flows);
    view.history.add(update);
    ranks.add(update.spans);
    view.newest = update;
    view.redraw();
  },
  end(end) {
    view.ended = end;
    panels.end(end);
    view.redraw();
  },
};

let source = null, retry = 0, timer = 0;

function state(name, text) {
  const place = document.getElementById("connection");
  place.dataset.state = name;
  put(place, text);
}

// The browser's own reconnecting would never stop; ours pauses longer each time, and ends with the run.
function connect() {
  clearTimeout(timer);
  source?.close();
  source = new EventSource("live");
  source.onopen = () => state("live", "live");
  source.onerror = () => {
    source.close();
    if (view.ended) return;
    if (retry >= RETRIES.length) return state("lost", "connection lost");
    state("connecting", "reconnecting");
    timer = setTimeout(connect, 1000 * RETRIES[retry++]);
  };
  for (const [name, handle] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => {
      retry = 0;
      handle(JSON.parse(event.data));
      if (name !== "end") return;
      source.close();
      state("ended", "ended");
    });
  }
}

function point(chart, event) {
  const box = chart.plot.getBoundingClientRect();
  if (!view.scene || !view.history.rows.length) return;
  view.hover = chart.under(event.clientX - box.left, event.clientY - box.top);
  tellFlow(chart, event.clientX, event.clientY);
  view.redraw();
}

function tellFlow(chart, x, y) {
  const { time, flow } = view.hover;
  const row = view.history.at(time);
  const lines = [`at ${show(row.time, "time")}`];
  if (flow !== undefined) lines.unshift(`${view.scene.flows[flow].name}  ${show(row[chart.what.many][flow], chart.what.kind)}`);
  view.showTip(x, y, lines);
}

function leave() {
  view.hover = null;
  view.hideTip();
  view.redraw();
}

// Left and right move through time, up and down through flows.
function step(chart, event) {
  const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  const { rows } = view.history;
  if (event.key === "Escape") leave();
  if (!by || !rows.length) return;
  event.preventDefault();
  const now = view.hover ? rows.indexOf(view.history.at(view.hover.time)) : rows.length - 1;
  const time = rows[Math.max(0, Math.min(rows.length - 1, now + by[0]))].time;
  const count = view.scene.flows.length;
  const flow = chart.what.many ? ((view.hover?.flow ?? 0) + by[1] + count) % count : undefined;
  view.hover = { time, flow };
  const box = chart.plot.getBoundingClientRect();
  tellFlow(chart, box.left + chart.x(time), box.top + 20);
  view.redraw();
}

function pause() {
  if (view.ended && !view.paused) return; // nothing comes any more
  view.paused = !view.paused;
  const button = document.getElementById("pause");
  button.hidden = Boolean(view.ended);
  button.setAttribute("aria-pressed", view.paused);
  put(button, view.paused ? "Resume" : "Pause");
  view.redraw();
}

function restyle() {
  view.colours.clear();
  view.font = getComputedStyle(document.body).fontFamily;
  for (const chart of charts) chart.forget();
  ranks.forget();
  view.redraw();
}

for (const chart of charts) {
  chart.plot.addEventListener("pointermove", (event) => point(chart, event));
  chart.plot.addEventListener("pointerdown", (event) => point(chart, event));
  chart.plot.addEventListener("pointerleave", leave);
  chart.plot.addEventListener("keydown", (event) => step(chart, event));
  chart.plot.addEventListener("blur", leave);
}
// A screen reader hears the newest values, but not five times a second.
setInterval(() => {
  if (document.hidden || !view.scene) return;
  for (const chart of charts) {
    const title = chart.figure.querySelector("h2").textContent;
    const told = `${title}: ${chart.figure.dataset.last ?? "nothing yet"}`;
    if (chart.plot.getAttribute("aria-label") !== told) chart.plot.setAttribute("aria-label", told);
  }
}, 2000);
document.getElementById("port").addEventListener("change", (event) => view.choose(Number(event.target.value)));
document.getElementById("pause").addEventListener("click", pause);
document.getElementById("connection").addEventListener("click", () => {
  if (document.getElementById("connection").dataset.state !== "lost") return;
  retry = 0;
  connect();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "p" && !event.ctrlKey && !event.metaKey && !["SELECT", "INPUT"].includes(event.target.tagName)) pause();
});
document.addEventListener("visibilitychange", () => view.redraw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyle);
restyle();
connect();
