// Draws one description of a plot (testbed.results.report.plot) with uPlot: panels above each other on one x axis.
// uPlot brings axes, zoom and cursor; each line has its own x and so its own path.
"use strict";
const DASHES = { dash: [6, 4], dot: [2, 3], dashdot: [6, 3, 2, 3] };
const SYMBOLS = { // polygons within -1 ... 1
  triangle: [[-1, -0.8], [1, -0.8], [0, 1]],
  cross: [[-1, -0.5], [-0.5, -1], [0, -0.5], [0.5, -1], [1, -0.5], [0.5, 0], [1, 0.5], [0.5, 1], [0, 0.5], [-0.5, 1], [-1, 0.5], [-0.5, 0]],
  star: Array.from({ length: 10 }, (_, i) => [i % 2 ? 0.45 : 1, (i * Math.PI) / 5]).map(([r, a]) => [r * Math.sin(a), -r * Math.cos(a)]),
};
const UPRIGHT = 40; // pixels that a drag across may go up or down without being one of both
const NEAR = 40; // pixels from the pointer to what it names
const Y_AXIS = 52, TICKS = 22, LABEL = 18, TOP = 8, RIGHT = 20; // pixels around a panel
const SINGLE = ["c1", "c2", "c3", "c4", "c5", "c6"]; // colours of lines on demand
const LETTER = 7; // pixels, of a name at a tick
const ROW = 15; // pixels, of a name beside a point

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const digits = (value, most = 4) => String(+value.toPrecision(most));
const isKnown = (value) => Math.abs(value) < Infinity;

// The position of the last of ascending numbers that is not above a value; -1 if all are.
function lastUpTo(numbers, value) {
  let low = 0, high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= value) low = middle + 1; else high = middle;
  }
  return low - 1;
}

// How many decimals tell numbers apart that lie a step from each other.
function decimals(step) {
  for (let places = 0; places < 12; places++) if (Math.abs(step * 10 ** places - Math.round(step * 10 ** places)) < 1e-6) return places;
  return 12;
}

function make(tag, parent, properties = {}) {
  return parent.appendChild(Object.assign(document.createElement(tag), properties));
}

// Where a logarithmic axis has its numbers: at every power of ten, and between them where there are few.
function decades(low, high) {
  const steps = high / low < 100 ? [1, 2, 5] : [1], found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const step of steps) if (step * 10 ** power >= low && step * 10 ** power <= high) found.push(step * 10 ** power);
  }
  return found;
}

class Chart {
  // events: { zoomed(x), clicked(x), pointed(chart, near | null, x) }; near: { line, index, distance }
  constructor(place, figure, events = {}) {
    Object.assign(this, { place, figure, events, panels: [], marked: null, heights: new Map() });
    this.hidden = new Set(this.onDemand().map((line) => line.group));
    this.x = this.whole();
    this.draw();
    new ResizeObserver(() => (place.clientWidth !== this.width || place.clientHeight !== this.height) && this.draw()).observe(place);
  }

  // Another figure on the same x axis; what is zoomed into stays.
  show(figure) {
    this.figure = figure;
    this.draw();
  }

  // The x axis unzoomed.
  whole() {
    let { low, high, log, marks } = this.figure.x;
    const ends = this.lines().filter((line) => line.x.length).flatMap((line) => [line.x[0], line.x.at(-1)]);
    if (ends.length) ends.push(...Object.values(marks));
    if (ends.length) [low, high] = [low ?? Math.min(...ends), high ?? Math.max(...ends)];
    if (!(low < high)) [low, high] = [low ?? 0, (low ?? 0) + 1];
    return log && this.figure.x.low === null ? uPlot.rangeLog(low, high, 10, false) : [low, high];
  }

  // Lines that are drawn only if the reader chooses them; of several panels, each name once.
  onDemand() {
    const every = this.figure.panels.flatMap((panel) => panel.lines).filter((line) => line.on_demand);
    return [...new Map(every.map((line) => [line.group, line])).values()];
  }

  lines(panel) {
    const every = panel ? panel.lines : this.figure.panels.flatMap((one) => one.lines);
    return every.filter((line) => !this.hidden.has(line.group));
  }

  // Everything anew: also after a change of size, of theme, or of the medium; `enlarged` times as fine, for print.
  draw(enlarged = 1) {
    for (const panel of this.panels) panel.destroy();
    this.place.replaceChildren();
    this.scale = enlarged;
    [this.width, this.height] = [this.place.clientWidth, this.place.clientHeight];
    this.legend();
    const names = Object.keys(this.figure.x.ticks), longest = Math.max(0, ...names.map((name) => name.length));
    this.slanted = names.length * (longest + 2) * LETTER > this.width - Y_AXIS; // side by side they have no room
    this.ticks = TICKS + (this.slanted ? Math.min(this.height / 2.5, 0.87 * LETTER * longest) : 0);
    const below = this.ticks + (this.figure.x.label ? LABEL : 0);
    const room = this.height - (this.names?.offsetHeight ?? 0) - below;
    const shares = this.figure.panels.reduce((sum, panel) => sum + panel.share, 0);
    this.panels = this.figure.panels.map((panel, number) => {
      const last = number === this.figure.panels.length - 1;
      return this.build(panel, (room * panel.share) / shares + (last ? below : 0), last);
    });
  }

  legend() {
    this.names = null;
    const single = this.onDemand();
    if (!this.figure.legend.length && !single.length) return;
    this.names = make("div", this.place, { className: "names" });
    const every = this.figure.panels.flatMap((panel) => panel.lines);
    for (const name of this.figure.legend) this.entry(every.find((one) => one.listed && one.name === name));
    const chosen = single.filter((line) => !this.hidden.has(line.group));
    chosen.forEach((line) => this.entry(line));
    if (single.length) this.choice(single, chosen, every);
  }

  entry(line) {
    const entry = make("button", this.names, { type: "button", title: "show or hide" });
    entry.setAttribute("aria-pressed", !this.hidden.has(line.group));
    const kind = line.dash === "solid" ? "solid" : line.dash === "dot" ? "dotted" : "dashed";
    const sign = make("i", entry);
    sign.style.borderTop = line.width && line.low === null ? `2px ${kind} ${colour(line.colour)}` : `8px solid ${colour(line.colour)}`;
    if (!line.width) sign.className = "dot";
    entry.append(line.name);
    entry.addEventListener("click", () => {
      if (!this.hidden.delete(line.group)) this.hidden.add(line.group);
      this.draw(this.scale);
    });
  }

  // A list of the lines on demand; each that is chosen gets the first colour that no other one has.
  choice(single, chosen, every) {
    const list = make("select", this.names, { ariaLabel: "show one" });
    make("option", list, { textContent: "show one ...", value: "" });
    for (const line of single) if (!chosen.includes(line)) make("option", list, { textContent: line.name, value: line.group });
    list.addEventListener("change", () => {
      const free = SINGLE.find((name) => !chosen.some((line) => line.colour === name)) ?? SINGLE[0];
      for (const line of every) if (line.group === list.value) line.colour = free;
      this.hidden.delete(list.value);
      this.draw(this.scale);
    });
  }

  build(panel, height, last) {
    const { figure, scale } = this;
    const frame = make("div", this.place, { className: "panel" });
    frame.style.zoom = 1 / scale;
    const font = `${12 * scale}px system-ui, sans-serif`;
    const axis = { stroke: colour("ink"), font, labelFont: font, labelSize: LABEL * scale, gap: 5 * scale,
      grid: { stroke: colour("rule"), width: scale }, ticks: { show: false } };
    const named = (one) => (Object.keys(one.ticks).length ? { splits: () => Object.values(one.ticks), values: () => Object.keys(one.ticks) } : {});
    const numbers = (_, values) => values.map((value) => (value === null ? "" : digits(value, 6)));
    const stepped = (u, values, which, space, step) => values.map((value) => (value === null ? "" : value && value.toFixed(decimals(step))));
    const scaled = (log) => (log ? { values: numbers, splits: (_, which, low, high) => decades(low, high), filter: (_, values) => values } : { values: stepped });
    const shown = this.lines(panel);
    const options = {
      width: this.width * scale, height: height * scale, padding: [TOP * scale, this.right() * scale, last ? 0 : TOP * scale, 0],
      legend: { show: false },
      cursor: { points: { show: false }, y: false, drag: { x: true, y: true, uni: UPRIGHT, dist: 4 },
        bind: { dblclick: () => () => this.unzoom() } },
      scales: {
        x: { time: false, distr: figure.x.log ? 3 : 1, range: () => this.x },
        y: { distr: panel.y.log ? 3 : 1, range: () => this.heights.get(panel) ?? this.reach(panel) },
      },
      axes: [
        { ...axis, ...(last ? { label: figure.x.label || undefined, size: this.ticks * scale, rotate: this.slanted ? 60 : 0 } : { size: 0 }), space: 70 * scale,
          ...scaled(figure.x.log), ...(last ? named(figure.x) : { values: () => [] }) },
        { ...axis, size: (panel.y.label ? Y_AXIS - LABEL : Y_AXIS - 8) * scale, label: panel.y.label || undefined, space: 34 * scale,
          ...scaled(panel.y.log), ...named(panel.y) },
      ],
      series: [{}, ...shown.map((line) => this.series(line))],
      hooks: {
        drawClear: [(u) => this.behind(u)],
        draw: [(u) => this.before(u), (u) => this.name(u, panel)],
        setSelect: [(u) => this.selected(u, panel)],
        setCursor: [(u) => this.point(u, panel)],
      },
    };
    options.cursor.drag.setScale = false;
    const plot = new uPlot(options, [this.whole(), ...shown.map(() => [1, 1])], frame);
    plot.over.addEventListener("click", (event) => this.events.clicked?.(plot.posToVal(event.offsetX, "x")));
    frame.setAttribute("role", "img");
    frame.setAttribute("aria-label", `${figure.title}: ${panel.y.label || figure.note}`);
    return plot;
  }

  series(line) {
    const ink = colour(line.colour);
    return {
      stroke: ink, fill: ink, width: line.width * this.scale, alpha: line.opacity, points: { show: false },
      dash: DASHES[line.dash]?.map((length) => length * this.scale), paths: (u) => this.path(u, line),
    };
  }

  path(u, { x, y, low, step, width, symbol, size }) {
    const stroke = new Path2D(), fill = new Path2D(), shape = SYMBOLS[symbol];
    const across = (i) => u.valToPos(x[i], "x", true), up = (value) => u.valToPos(value, "y", true);
    const radius = (size / 2) * this.scale * uPlot.pxRatio;
    let joined = false, before = 0;
    for (let i = 0; i < x.length; i++) {
      const left = across(i), top = up(y[i]);
      if (!isKnown(y[i]) || (y[i] <= 0 && u.scales.y.distr === 3)) { // a logarithmic axis has no 0
        joined = false;
        continue;
      }
      if (joined && step) stroke.lineTo(left, before);
      if (joined) stroke.lineTo(left, top); else stroke.moveTo(left, top);
      [joined, before] = [true, top];
      if (shape) shape.forEach(([dx, dy], k) => fill[k ? "lineTo" : "moveTo"](left + dx * radius, top + dy * radius));
      if (symbol === "circle") {
        fill.moveTo(left + radius, top);
        fill.arc(left, top, radius, 0, 2 * Math.PI);
      }
    }
    if (!low) return { stroke: width ? stroke : null, fill: symbol ? fill : null, flags: 0 };
    for (let i = x.length - 1; i >= 0; i--) stroke.lineTo(across(i), up(low[i]));
    return { stroke: null, fill: stroke, flags: 0 };
  }

  // [low, high] of a y axis: what the lines reach in the part that is shown.
  reach({ y: axis, ...panel }) {
    let least = Infinity, most = -Infinity;
    for (const { x, y, low, step } of this.lines(panel)) {
      const first = Math.max(0, lastUpTo(x, this.x[0]) + (step ? 0 : 1)), end = lastUpTo(x, this.x[1]);
      for (let i = first; i <= end; i++) {
        const bottom = low ? low[i] : y[i];
        if (isKnown(y[i]) && y[i] > most) most = y[i];
        if (isKnown(bottom) && bottom < least && (bottom > 0 || !axis.log)) least = bottom;
      }
    }
    if (!(least <= most)) [least, most] = axis.log ? [1, 10] : [0, 1];
    if (axis.log) return most < 10 * least ? uPlot.rangeLog(least, most, 10, false) : [least / 1.2, 1.2 * most];
    const pad = 0.05 * (most - least || Math.abs(most) || 1);
    const zero = axis.from_zero && least >= 0;
    if (axis.from_zero && most < 0) most = 0;
    return [axis.low ?? (zero ? 0 : least >= 0 ? Math.max(0, least - pad) : least - pad), axis.high ?? most + (zero ? 0.05 * (most || 1) : pad)];
  }

  // What is shaded along the x axis.
  behind(u) {
    const { left, top, width, height } = u.bbox, { ctx } = u;
    const inside = (x) => Math.max(left, Math.min(left + width, u.valToPos(x, "x", true)));
    for (const { start, end, colour: name, text } of this.figure.x.spans) {
      ctx.fillStyle = colour(name);
      ctx.fillRect(inside(start), top, inside(end) - inside(start), height);
      if (text && u === this.panels[0]) this.write(ctx, text, (inside(start) + inside(end)) / 2, top + height / 2, "center");
    }
  }

  // What is marked along it.
  before(u) {
    const { left, top, width, height } = u.bbox, { ctx } = u, fine = this.scale * uPlot.pxRatio;
    const marks = Object.entries(this.figure.x.marks);
    if (this.marked !== null) marks.push(["", this.marked]);
    ctx.font = `${12 * fine}px system-ui, sans-serif`;
    const ends = []; // of the texts in each row from the bottom up
    for (const [text, value] of marks.sort((one, other) => one[1] - other[1])) {
      const x = Math.round(u.valToPos(value, "x", true));
      if (!(x >= left && x <= left + width)) continue;
      ctx.fillStyle = colour("limit");
      const dot = text ? 3 * fine : height; // what has a name is dotted
      for (let y = top; y < top + height; y += 2 * dot) ctx.fillRect(x, y, fine, dot);
      if (!text || u !== this.panels[0]) continue;
      const wide = ctx.measureText(text).width, right = x + 4 * fine + wide > left + width;
      const from = right ? x - 4 * fine - wide : x + 4 * fine;
      let row = ends.findIndex((end) => end < from);
      if (row < 0) row = ends.length;
      ends[row] = from + wide + 6 * fine;
      this.write(ctx, text, from, top + height - (6 + ROW * row) * fine, "left");
    }
  }

  // The room to the right of the panels: for the names beside last points.
  right() {
    const longest = Math.max(0, ...this.lines().map((line) => line.label.length));
    return longest ? Math.min(LETTER * longest + 10, this.width / 3) : RIGHT;
  }

  // Lines that are named beside their last point: below each other where they would lie on one another.
  name(u, panel) {
    const { ctx } = u, fine = this.scale * uPlot.pxRatio, row = ROW * fine;
    ctx.font = `${12 * fine}px system-ui, sans-serif`;
    const names = [];
    for (const line of this.lines(panel)) {
      const at = line.label ? line.y.findLastIndex(isKnown) : -1;
      if (at < 0) continue;
      const x = u.valToPos(line.x[at], "x", true) + 7 * fine, y = u.valToPos(line.y[at], "y", true) + 4 * fine;
      names.push({ line, x, y, wide: ctx.measureText(line.label).width });
    }
    const beside = (one, other) => one.x < other.x + other.wide && other.x < one.x + one.wide;
    names.sort((one, other) => one.y - other.y || one.x - other.x);
    const points = names.map(({ x, y }) => ({ x: x - 11 * fine, y, wide: 8 * fine }));
    names.forEach((one, i) => {
      const taken = [...points, ...names.slice(0, i)].filter((other) => beside(one, other)).sort((a, b) => a.y - b.y);
      for (const other of taken) if (Math.abs(one.y - other.y) < row) one.y = other.y + row;
    });
    const bottom = u.bbox.top + u.bbox.height;
    names.sort((one, other) => other.y - one.y).forEach((one, i) => { // none below the panel
      one.y = Math.min(one.y, bottom);
      for (const other of names.slice(0, i)) if (beside(one, other)) one.y = Math.min(one.y, other.y - row);
      this.write(ctx, one.line.label, one.x, one.y, "left", one.line.colour);
    });
  }

  write(ctx, text, x, y, align, name = "muted") {
    const font = `${12 * this.scale * uPlot.pxRatio}px system-ui, sans-serif`;
    Object.assign(ctx, { strokeStyle: colour("raised"), lineWidth: 3 * this.scale * uPlot.pxRatio, lineJoin: "round" });
    Object.assign(ctx, { fillStyle: colour(name), textAlign: align, textBaseline: "alphabetic", font });
    ctx.strokeText(text, x, y); // what is behind it stays away from the letters
    ctx.fillText(text, x, y);
  }

  // A rule at an x, in all panels.
  mark(x) {
    this.marked = x;
    for (const panel of this.panels) panel.redraw(false);
  }

  // A drag marks a part of the x axis, or if it went up or down, of the y axis, or both.
  selected(u, panel) {
    const { left, top, width, height } = u.select;
    if (!width) return;
    if (height < u.over.clientHeight) this.heights.set(panel, [u.posToVal(top + height, "y"), u.posToVal(top, "y")]);
    this.zoom(width < u.over.clientWidth ? [u.posToVal(left, "x"), u.posToVal(left + width, "x")] : this.x);
  }

  unzoom() {
    this.heights.clear();
    this.zoom(this.whole());
  }

  zoom(x, tell = true) {
    this.x = x;
    for (const panel of this.panels) {
      panel.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      panel.setScale("x", { min: x[0], max: x[1] });
    }
    if (tell) this.events.zoomed?.(x);
  }

  // The pointer has moved: its line stands in all panels, and what is nearest to it is named.
  point(u, panel) {
    const { left, top } = u.cursor;
    const away = !(left >= 0 && top >= 0);
    for (const other of this.panels) if (other !== u && other.cursor.left !== left) other.setCursor({ left, top: -10 }, false);
    this.events.pointed?.(this, away ? null : this.nearest(u, panel, left, top), away ? null : u.posToVal(left, "x"));
  }

  nearest(u, panel, left, top) {
    let near = null;
    const value = u.posToVal(left, "x");
    for (const line of this.lines(panel)) {
      const at = lastUpTo(line.x, value);
      for (let index = Math.max(0, at - 1); index <= Math.min(line.x.length - 1, at + 1); index++) {
        const distance = Math.hypot(u.valToPos(line.x[index], "x") - left, u.valToPos(line.y[index], "y") - top);
        if (distance < (near?.distance ?? NEAR)) near = { line, index, distance };
      }
    }
    return near;
  }
}
