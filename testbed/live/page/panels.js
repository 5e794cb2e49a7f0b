// Everything on the page that is text: header, tiles, distortion, verdict, figures. Only what changed is written.
function put(id, text) {
  const element = typeof id === "string" ? document.getElementById(id) : id;
  if (element.textContent !== text) element.textContent = text;
}

function items(list, parent, name = "li") {
  parent.replaceChildren(...list.map((text) => {
    const element = document.createElement(name);
    element.textContent = text;
    return element;
  }));
}

// A table's rows, with empty cells behind their names.
function rowsOf(id, names, cells = 4) {
  document.getElementById(id).replaceChildren(...names.map((name) => {
    const line = document.createElement("tr");
    items([name], line, "th");
    line.append(...Array.from({ length: cells }, () => document.createElement("td")));
    return line;
  }));
}

// What its rows say now: texts per row.
function tell(id, texts) {
  const { rows } = document.getElementById(id);
  texts.forEach((row, i) => row.forEach((text, at) => put(rows[i].cells[at + 1], text)));
}

const spreads = new WeakMap();

// { mean, least, most } of the known values of a column.
function spread(row, name) {
  if (!spreads.has(row)) spreads.set(row, {});
  const kept = spreads.get(row);
  if (!kept[name]) {
    let total = 0, count = 0, least = Infinity, most = -Infinity;
    for (const value of row[name]) {
      if (!Number.isFinite(value)) continue;
      total += value;
      count += 1;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    kept[name] = count ? { mean: total / count, least, most, total } : { mean: NaN, least: NaN, most: NaN, total: NaN };
  }
  return kept[name];
}

function judgement(word, extent) {
  const said = {
    "": "Nothing has been measured yet.",
    clean: "Every measure of distortion is within its limit: the figures are the controller's.",
    degraded: "The emulation did not keep up: the figures are partly this machine's.",
    failed: "The run failed; it has no results.",
  };
  return (extent ? `So far ${word}. ` : "") + (said[word] ?? word);
}

class Panels {
  constructor(view) {
    this.view = view;
    this.bars = new Map();
    this.tiles = new Map();
    const names = ["Utilisation", "Queue", "Highest queue", "RTT p50", "RTT p99", "Goodput", "Jain", "Marked", "Drops"];
    for (const name of names) {
      const tile = document.createElement("div");
      const term = tile.appendChild(document.createElement("dt"));
      term.textContent = name;
      const value = tile.appendChild(document.createElement("dd"));
      value.textContent = UNKNOWN;
      this.tiles.set(name, value);
      document.getElementById("tiles").append(tile);
    }
  }

  scene() {
    const { scene } = this.view;
    const title = `${scene.experiment} · ${scene.controller}${scene.tuner ? " + " + scene.tuner : ""}`;
    put("title", title);
    document.title = `${title} · testbed`;
    const switches = new Set(scene.ports.map((port) => port.switch));
    const hosts = new Set(scene.ports.map((port) => port.to).filter((name) => !switches.has(name))).size;
    const flows = scene.flows_by === "host" ? `${scene.flows.length} sending hosts` : `${scene.flows.length} flows`;
    put("about", `${flows}, ${hosts} hosts, ${scene.bottleneck} at ${show(this.rate(), "rate")}, ` +
      `base RTT ${show(scene.base_rtt, "time")} (median flow), ${scene.how}, seed ${scene.seed}`);
    document.getElementById("warmup").style.left = (100 * scene.warmup) / scene.duration + "%";
    document.querySelector("#goodput h2").textContent = scene.flows_by === "host" ? "Goodput per host" : "Goodput per flow";
    rowsOf("controllers", scene.controllers);
    const queues = scene.queues.filter((queue) => queue.port === scene.bottleneck); // every port has the same
    rowsOf("queue-rows", queues.map((queue) => `q${queue.queue} ${queue.classes}`), 9);
    document.getElementById("queues").hidden = !queues.length;
    rowsOf("job-rows", scene.jobs.map((job) => job.name));
    document.getElementById("jobs").hidden = !scene.jobs.length;
    document.getElementById("figures").replaceChildren();
    document.getElementById("notes").replaceChildren();
    put("result-note", "when the run has ended");
    document.getElementById("pause").hidden = false;
    document.getElementById("distortion").replaceChildren();
    this.bars.clear();
    this.time(0);
    this.verdict("", []);
  }

  rate() {
    return this.view.scene.ports.find((port) => port.name === this.view.scene.bottleneck)?.rate ?? NaN;
  }

  time(now) {
    const { scene } = this.view;
    const share = Math.min(1, now / scene.duration);
    const bar = document.getElementById("progress");
    bar.firstElementChild.style.transform = `scaleX(${share.toFixed(4)})`;
    bar.setAttribute("aria-valuenow", Math.round(100 * share));
    const [unit, size] = unitFor(scene.duration, "time");
    const warming = now < scene.warmup && now > 0 ? ", warm-up" : "";
    put("clock", `${(now / size).toFixed(2)} of ${+(scene.duration / size).toPrecision(4)} ${unit} nominal${warming}`);
  }

  update(update) {
    const { port } = this.view;
    const values = {
      "Utilisation": show(update.ports.utilisation[port], "share"),
      "Queue": show(update.ports.queue[port], "bytes"),
      "Highest queue": show(update.ports.queue_max[port], "bytes"),
      "RTT p50": show(update.rtt.p50, "time"),
      "RTT p99": show(update.rtt.p99, "time"),
      "Goodput": show(update.flows.goodput.reduce((sum, one) => sum + (one ?? 0), 0), "rate"),
      "Jain": show(update.jain, "plain"),
      "Marked": show(update.ports.marked[port], "share"),
      "Drops": show(update.ports.drops[port], "count"),
    };
    for (const [name, text] of Object.entries(values)) put(this.tiles.get(name), text);
    this.queues(update.queues);
    this.controllers(update.controllers);
    this.jobs(update.jobs);
    this.time(update.time);
    this.distortion(update.distortion);
    this.verdict(update.verdict, update.reasons, "so far");
  }

  // Of the port whose curves are shown.
  queues(told) {
    const { scene, port } = this.view, { name } = scene.ports[port];
    put("queues-port", name);
    tell("queue-rows", scene.queues.flatMap((queue, i) => (queue.port === name ? [i] : [])).map((i) => [
      show(told.queue[i], "bytes"), show(told.queue_max[i], "bytes"), show(told.utilisation[i], "share"),
      show(told.marked[i], "share"), show(told.drops[i], "count"), show(told.held[i], "time"),
      show(told.kmin[i], "bytes"), show(told.kmax[i], "bytes"), show(told.pmax[i], "share")]));
  }

  controllers({ share, goodput, rtt, marked }) {
    tell("controllers", share.map((one, i) => (
      [show(one, "share"), show(goodput[i], "rate"), show(rtt[i], "time"), show(marked[i], "share")])));
  }

  jobs({ iterations, last, straggler, bus_bandwidth }) {
    tell("job-rows", iterations.map((done, i) => (
      [`${done} of ${this.view.scene.jobs[i].iterations}`, show(last[i], "time"), show(straggler[i], "plain"),
        show(bus_bandwidth[i], "rate")])));
  }

  distortion(measured) {
    for (const [name, ratio] of Object.entries(measured)) {
      if (!this.bars.has(name)) this.bars.set(name, this.bar(name));
      const { row, fill, value } = this.bars.get(name);
      fill.style.transform = `scaleX(${Math.min(1, (ratio ?? 0) / 1.25).toFixed(3)})`; // the limit stands at 80 %
      row.classList.toggle("beyond", ratio > 1);
      put(value, ratio === null ? UNKNOWN : ratio > 99 ? ">99" : ratio.toFixed(2));
    }
  }

  bar(name) {
    const row = document.createElement("div");
    row.className = "bar";
    const [label, track, value] = ["span", "div", "b"].map((tag) => row.appendChild(document.createElement(tag)));
    label.textContent = label.title = name;
    document.getElementById("distortion").append(row);
    return { row, fill: track.appendChild(document.createElement("i")), value };
  }

  verdict(word, reasons, extent = "") {
    const badge = document.getElementById("verdict");
    badge.hidden = !word;
    badge.className = "badge " + word;
    badge.title = reasons.join("\n");
    put(badge, extent ? `${word} ${extent}` : word);
    put("judgement", judgement(word, extent));
    const told = reasons.join("\n");
    if (told !== this.told) items(reasons, document.getElementById("reasons"));
    this.told = told;
  }

  end(end) {
    const at = end.time ?? this.view.newest?.time; // a run that failed has no length
    if (at === undefined) put("clock", ""); else this.time(at); // the last stage is over
    document.getElementById("pause").hidden = !this.view.paused;
    this.verdict(end.verdict, end.reasons);
    items(end.notes, document.getElementById("notes"), "p");
    for (const note of document.querySelectorAll("#notes p")) note.className = "note";
    put("result-note", end.folder ? `results: ${end.folder}` : "no results were written");
    document.getElementById("figures").replaceChildren(...end.figures.map(({ name, values }) => {
      const line = document.createElement("tr");
      const head = line.appendChild(document.createElement("th"));
      head.scope = "row";
      head.textContent = name;
      for (const [value, word] of values) {
        const cell = line.appendChild(document.createElement("td"));
        cell.append(value + (word && " "));
        cell.appendChild(document.createElement("span")).textContent = word;
      }
      return line;
    }));
  }
}
