// What the ranks of jobs do, span by span as each is over, and who sends to whom. An update adds only its own spans.
const ROW = 11, FOOT = 16, NAMED = 16; // px of a rank, px of the time axis, ranks that have their names beside them
const DOES = [{ colour: "c0", at: -3, high: 4 }, { colour: "c1", at: 2, high: 2 }, { colour: "ink" }]; // as in spans.py

class Ranks {
  constructor(view) {
    this.view = view;
    this.figure = document.getElementById("ranks");
    this.canvas = this.figure.querySelector("canvas");
    this.pen = this.canvas.getContext("2d");
    this.spans = [];
    new ResizeObserver(() => this.forget()).observe(this.figure);
  }

  scene() {
    const { ranks, sends } = this.view.scene;
    this.spans = [];
    this.figure.hidden = !ranks.length;
    this.canvas.style.height = `${ranks.length * ROW + FOOT}px`;
    const place = document.getElementById("sends");
    place.parentElement.hidden = !sends;
    place.replaceChildren();
    if (sends) place.append(new DOMParser().parseFromString(sends, "image/svg+xml").documentElement);
    this.forget();
  }

  add(spans) {
    this.spans.push(...spans);
  }

  // Draw everything anew at the next chance.
  forget() {
    this.drawn = -1;
    this.view.redraw();
  }

  draw() {
    if (!this.view.scene?.ranks.length || !this.canvas.clientWidth) return;
    if (this.drawn < 0) this.frame();
    for (const span of this.spans.slice(this.drawn)) this.span(span);
    this.drawn = this.spans.length;
    this.figure.dataset.spans = this.drawn;
  }

  frame() {
    const { canvas, pen, view } = this;
    const { ranks, duration } = view.scene;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    pen.scale(ratio, ratio);
    pen.font = `10px ${view.font}`;
    pen.fillStyle = view.colour("muted");
    const every = Math.ceil(ranks.length / NAMED);
    const named = ranks.map((name, row) => [name, row]).filter(([, row]) => row % every === 0);
    this.left = 6 + Math.max(...named.map(([name]) => pen.measureText(name).width));
    this.width = canvas.clientWidth - this.left - 4;
    for (const [name, row] of named) pen.fillText(name, 0, row * ROW + ROW / 2 + 3);
    const foot = ranks.length * ROW + FOOT - 4, end = show(duration, "time");
    pen.fillText("0", this.left, foot);
    pen.fillText(end, this.left + this.width - pen.measureText(end).width, foot);
    pen.fillStyle = view.colour("rule");
    pen.fillRect(this.left, ranks.length * ROW, this.width, 1);
    this.drawn = 0;
  }

  span([row, does, begin, end]) {
    const { pen, view } = this;
    const { colour, at, high } = DOES[does];
    const [from, to] = [begin, end].map((time) => this.left + (time / view.scene.duration) * this.width);
    const middle = row * ROW + ROW / 2;
    pen.fillStyle = view.colour(colour);
    if (high) return pen.fillRect(from, middle + at, Math.max(to - from, 0.5), high);
    pen.beginPath();
    pen.arc(from, middle, 2, 0, 2 * Math.PI);
    pen.fill();
  }
}
