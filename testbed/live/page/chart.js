// A canvas chart over nominal time. The time axis is the whole run from the start, so an update only adds its own piece
// of each curve; everything is drawn anew only if the scale, the size or the colours change. An update costs 1 ms, be it
// of 256 flows. uPlot, which draws the report, draws all anew: 20 ms a chart with 64 flows, 150 ms with 256, five times a
// second, on the machine that emulates.
const PAD = { left: 44, right: 12, top: 21, bottom: 22 };
const FEW = 8; // flows that have a colour of their own
const OUTLIER = 1.6; // curves may leave the plot where they are this far above what they are most of the time
const ENOUGH = 10; // rows to say what that is

const sorted = (values) => values.filter(Number.isFinite).sort((a, b) => a - b);

class Chart {
  // what: { kind, many: column of one value per flow | null, log, top: fixed top | undefined,
  //         lines: [{ name, colour, read(row), width, dash, step, fill, guide, unseen, kind }] }
  // A guide (a threshold, a reference) is shown if it is near, but does not stretch the scale. What is unseen stands
  // in the legend only, and may be of another kind.
  constructor(id, view, what) {
    this.figure = document.getElementById(id);
    this.view = view;
    this.what = { lines: [], many: null, ...what };
    this.plot = this.figure.appendChild(document.createElement("div"));
    this.plot.className = "plot";
    this.plot.tabIndex = 0;
    this.plot.setAttribute("role", "img");
    this.plot.setAttribute("aria-label", this.figure.querySelector("h2").textContent);
    [this.base, this.over] = [0, 1].map(() => this.plot.appendChild(document.createElement("canvas")));
    this.pen = this.base.getContext("2d");
    this.overPen = this.over.getContext("2d");
    this.beyond = this.plot.appendChild(document.createElement("span")); // says how high a curve is that left the plot
    this.beyond.className = "beyond";
    this.visible = false; // on the screen
    this.forget();
    new ResizeObserver(() => this.resize()).observe(this.plot);
    new IntersectionObserver(([entry]) => {
      this.visible = entry.isIntersecting;
      this.view.redraw();
    }).observe(this.plot);
    this.legend();
  }

  // Draw everything anew at the next chance.
  forget() {
    this.drawn = 0;
    this.generation = -1;
    this.tops = [];
    this.bottoms = [];
  }

  resize() {
    const { clientWidth, clientHeight } = this.plot;
    this.ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(clientWidth * this.ratio);
      canvas.height = Math.round(clientHeight * this.ratio);
    }
    this.width = clientWidth - PAD.left - PAD.right;
    this.height = clientHeight - PAD.top - PAD.bottom;
    this.forget();
    this.view.redraw();
  }

  x(time) {
    const exact = PAD.left + (Math.min(time, this.view.scene.duration) / this.view.scene.duration) * this.width;
    return Math.round(exact * this.ratio) / this.ratio; // whole pixels: pieces of an area meet without a seam
  }

  y(value) {
    const { top, bottom } = this;
    const share = this.what.log ? Math.log(value / bottom) / Math.log(top / bottom) : value / top;
    return PAD.top + (1 - Math.max(-0.05, Math.min(share, 1.5))) * this.height;
  }

  // Called for every new row; draws what is not drawn yet.
  draw() {
    const { history, scene } = this.view;
    if (!scene || !this.visible || !(this.width > 0 && this.height > 0)) return;
    if (this.generation !== history.generation) {
      this.forget();
      this.generation = history.generation;
    }
    for (const row of history.rows.slice(this.tops.length)) this.measure(row);
    const [bottom, top] = this.range();
    if (top !== this.top || bottom !== this.bottom || this.drawn === 0) {
      [this.bottom, this.top, this.drawn] = [bottom, top, 0];
      this.frame();
    }
    if (history.rows.length > this.drawn) this.curves(this.drawn, history.rows);
    this.drawn = history.rows.length;
    this.figure.dataset.points = this.drawn;
    this.mark();
    this.hover();
  }

  measure(row) {
    let top = -Infinity, bottom = Infinity;
    const seen = this.what.lines.filter((line) => !line.guide && !line.unseen).map((line) => line.read(row));
    for (const value of this.what.many ? row[this.what.many] : seen) {
      if (value > top && value < Infinity) top = value;
      if (value > 0 && value < bottom) bottom = value;
    }
    this.tops.push(top);
    this.bottoms.push(bottom);
  }

  // [bottom, top] of the axis.
  range() {
    if (this.what.top) return [0, this.what.top];
    const known = sorted(this.tops);
    if (this.what.log) {
      const lowest = Math.min(...this.bottoms.filter(Number.isFinite));
      const highest = known.length ? known.at(-1) : 1e9;
      const power = 10 ** Math.floor(Math.log10(Math.min(lowest, highest / 2)));
      const bottom = [5, 2, 1].find((step) => step * power <= lowest * 1.0001) ?? 1;
      const above = 10 ** Math.floor(Math.log10(highest * 1.0001));
      return [bottom * power, [1, 2, 5, 10].find((step) => step * above >= highest * 0.9999) * above];
    }
    const { rows } = this.view.history;
    const counted = sorted(this.tops.filter((_, i) => rows[i].time > this.view.scene.warmup));
    const judged = counted.length < ENOUGH ? known : counted; // a burst at the start must not squash all that follows
    const usual = judged.length < ENOUGH ? 0 : judged[Math.floor(0.95 * (judged.length - 1))];
    const fitting = [known.at(-1), judged.at(-1), 1.25 * usual].find((value) => value <= OUTLIER * usual);
    let top = (usual ? fitting : judged.at(-1)) ?? 0;
    const newest = rows.at(-1);
    const guides = this.what.lines.filter((line) => line.guide && newest).map((line) => line.read(newest));
    for (const value of guides) if (value > top && value <= 4 * top) top = value * 1.1;
    return [0, roundUp(top || guides.find((value) => value > 0) || 0)];
  }

  // Where a linear curve is highest above the axis, and how high that is.
  mark() {
    const { rows } = this.view.history;
    const peak = this.tops.reduce((best, value, i) => (value > (this.tops[best] ?? -Infinity) ? i : best), -1);
    this.beyond.hidden = Boolean(this.what.log || this.what.top) || !(this.tops[peak] > this.top);
    if (this.beyond.hidden) return;
    put(this.beyond, `\u25b2 ${show(this.tops[peak], this.what.kind)}`);
    this.beyond.title = `off the scale at ${show(rows[peak].time, "time")}`;
    const above = Math.max(PAD.left, this.x(rows[peak].time) - 5); // the unit stands left of it
    const left = Math.min(above, PAD.left + this.width - this.beyond.offsetWidth);
    this.beyond.style.transform = `translateX(${left}px)`;
  }

  // Grid and axes.
  frame() {
    const { pen, view, width, height, ratio } = this;
    const { scene } = view;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width + PAD.left + PAD.right, height + PAD.top + PAD.bottom);
    pen.font = `11px ${view.font}`;
    pen.fillStyle = view.colour("shade");
    pen.fillRect(PAD.left, PAD.top, this.x(scene.warmup) - PAD.left, height); // the warm-up does not count
    pen.lineWidth = 1;
    pen.strokeStyle = view.colour("rule");
    pen.fillStyle = view.colour("muted");
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const ticks = this.what.log ? this.logTicks() : ticksTo(this.top);
    const [unit, size] = unitFor(this.top, this.what.kind);
    pen.beginPath();
    for (const tick of ticks) {
      const y = Math.round(this.y(tick)) + 0.5;
      pen.moveTo(PAD.left, y);
      pen.lineTo(PAD.left + width, y);
      pen.fillText(+(tick / size).toPrecision(4), PAD.left - 6, y);
    }
    pen.stroke();
    pen.textBaseline = "alphabetic";
    pen.fillText(unit, PAD.left - 6, PAD.top - 9);
    const [timeUnit, timeSize] = unitFor(scene.duration, "time");
    const times = ticksTo(scene.duration);
    times.forEach((time, number) => {
      const last = number === times.length - 1;
      pen.textAlign = number === 0 ? "left" : last && this.x(time) > PAD.left + width - 20 ? "right" : "center";
      pen.fillText(+(time / timeSize).toPrecision(4) + (last ? "\u2009" + timeUnit : ""), this.x(time), PAD.top + height + 15);
    });
  }

  logTicks() {
    const decades = Math.log10(this.top / this.bottom);
    const steps = decades > 3 ? [1] : decades > 1.4 ? [1, 3] : [1, 2, 5];
    const found = [];
    for (let power = 10 ** Math.floor(Math.log10(this.bottom)); power <= this.top; power *= 10) {
      for (const step of steps) {
        const tick = step * power;
        if (tick >= this.bottom * 0.999 && tick <= this.top * 1.001) found.push(tick);
      }
    }
    return found.length > 1 ? found : [this.bottom, this.top];
  }

  curves(from, rows) {
    const { pen, view, what } = this;
    pen.save();
    pen.beginPath();
    pen.rect(PAD.left, PAD.top - 1, this.width + 1, this.height + 2);
    pen.clip();
    if (what.many) {
      const count = view.scene.flows.length;
      const few = count <= FEW;
      pen.globalAlpha = few ? 0.9 : Math.max(0.12, Math.min(0.5, 12 / count));
      pen.lineWidth = few ? 1.4 : 1;
      for (let i = 0; i < count; i++) {
        pen.strokeStyle = view.colour(few ? "c" + i : "accent");
        this.curve(pen, from, rows, (row) => row[what.many][i]);
      }
      pen.globalAlpha = 1;
    }
    for (const line of what.lines.filter((one) => !one.unseen)) {
      pen.strokeStyle = view.colour(line.colour);
      pen.lineWidth = line.width ?? 1.5;
      pen.setLineDash(line.dash ?? []);
      if (line.fill) this.area(pen, from, rows, line);
      this.curve(pen, from, rows, line.read, line.step);
    }
    pen.restore();
  }

  curve(pen, from, rows, read, step = false) {
    let open = false, before = 0;
    pen.beginPath();
    for (let i = Math.max(0, from - 1); i < rows.length; i++) {
      const value = read(rows[i]);
      if (!(Math.abs(value) < Infinity)) { // not known, or no limit
        open = false;
        continue;
      }
      const x = this.x(rows[i].time), y = this.y(value);
      if (!open) {
        pen.lineDashOffset = x; // dashes go on where the last piece's ended
        pen.moveTo(x, y);
      } else {
        if (step) pen.lineTo(x, before);
        pen.lineTo(x, y);
      }
      [open, before] = [true, y];
    }
    pen.stroke();
  }

  area(pen, from, rows, line) {
    const first = Math.max(0, from - 1);
    const floor = this.y(0);
    pen.beginPath();
    pen.moveTo(this.x(rows[first].time), floor);
    for (let i = first; i < rows.length; i++) pen.lineTo(this.x(rows[i].time), this.y(line.read(rows[i]) || 0));
    pen.lineTo(this.x(rows.at(-1).time), floor);
    pen.fillStyle = this.view.colour(line.fill);
    pen.fill();
  }

  // The pointer's time in every chart, and the flow that it names.
  hover() {
    const { overPen: pen, view, ratio } = this;
    const { hover } = view;
    if (!hover && !this.hovered) return;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.over.width, this.over.height);
    this.hovered = Boolean(hover);
    if (!hover || !view.history.rows.length) return;
    const x = this.x(view.history.at(hover.time).time) + 0.5;
    pen.strokeStyle = view.colour("muted");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, PAD.top);
    pen.lineTo(x, PAD.top + this.height);
    pen.stroke();
    if (!this.what.many || hover.flow === undefined) return;
    pen.save();
    pen.beginPath();
    pen.rect(PAD.left, PAD.top - 1, this.width + 1, this.height + 2);
    pen.clip();
    pen.strokeStyle = view.colour(view.scene.flows.length <= FEW ? "c" + hover.flow : "c1");
    pen.lineWidth = 2.5;
    this.curve(pen, 0, view.history.rows, (row) => row[this.what.many][hover.flow]);
    pen.restore();
  }

  // What is under the pointer: { time, flow }.
  under(left, top) {
    const { scene, history } = this.view;
    const time = Math.max(0, Math.min(1, (left - PAD.left) / this.width)) * scene.duration;
    const row = history.at(time);
    if (!this.what.many || !row) return { time };
    let flow, nearest = Infinity;
    row[this.what.many].forEach((value, i) => {
      const distance = Math.abs(this.y(value) - top);
      if (distance < nearest) [nearest, flow] = [distance, i];
    });
    return { time, flow };
  }

  // Names and values of the curves; also what a screen reader hears.
  legend() {
    const place = this.figure.querySelector(".legend");
    this.values = [];
    place.replaceChildren(...this.what.lines.map((line) => {
      const entry = document.createElement("span");
      const sign = entry.appendChild(document.createElement("i"));
      sign.style.borderTop = `2px ${line.dash ? "dashed" : "solid"} var(--${line.colour})`;
      sign.hidden = Boolean(line.unseen);
      entry.append(line.name + " ");
      this.values.push(entry.appendChild(document.createElement("b")));
      return entry;
    }));
  }

  tell(row) {
    if (!row) return;
    const told = this.what.lines.map((line, i) => {
      const text = show(line.read(row), line.kind ?? this.what.kind);
      if (this.values[i].textContent !== text) this.values[i].textContent = text;
      return `${line.name} ${text}`;
    });
    this.figure.dataset.last = told.join(", ");
    this.figure.dataset.time = row.time;
  }
}
