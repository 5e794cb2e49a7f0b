// What was measured so far, one row per update. Long runs are thinned so that drawing stays cheap: past MOST_ROWS,
// neighbours become one row (means; for queues the higher one, so that no peak is lost).
const MOST_ROWS = 600;
const HIGHEST = new Set(["queue"]);
const NEWEST = new Set(["kmin", "kmax", "pmax"]);

function column(list) {
  const values = new Float32Array(list.length);
  for (let i = 0; i < list.length; i++) values[i] = list[i] ?? NaN;
  return values;
}

function mean(a, b, weight) {
  return Number.isNaN(a) ? b : Number.isNaN(b) ? a : (weight * a + b) / (weight + 1);
}

// Two rows as one; the first stands for `weight` times as many updates as the second.
function merged(first, second, weight) {
  const row = { time: second.time };
  for (const [name, values] of Object.entries(second)) {
    if (name === "time" || NEWEST.has(name)) row[name] = values;
    else if (typeof values === "number") row[name] = mean(first[name], values, weight);
    else if (HIGHEST.has(name)) row[name] = values.map((value, i) => Math.max(value, first[name][i]));
    else row[name] = values.map((value, i) => mean(first[name][i], value, weight));
  }
  return row;
}

class History {
  rows = [];
  updates = 0; // that came in
  generation = 0; // changes when rows are not only appended
  stride = 1; // updates per row
  held = null; // a row that waits for its neighbours
  heldCount = 0;

  add(update) {
    const { ports, flows, controllers } = update;
    this.updates += 1;
    const row = {
      time: update.time,
      queue: column(ports.queue), utilisation: column(ports.utilisation), marked: column(ports.marked),
      kmin: column(ports.kmin), kmax: column(ports.kmax), pmax: column(ports.pmax),
      goodput: column(flows.goodput), rate: column(flows.rate), window: column(flows.window),
      share: column(controllers.share),
      p50: update.rtt.p50 ?? NaN, p99: update.rtt.p99 ?? NaN, jain: update.jain ?? NaN,
    };
    this.held = this.held ? merged(this.held, row, this.heldCount) : row;
    this.heldCount += 1;
    if (this.heldCount < this.stride) return;
    this.rows.push(this.held);
    this.held = null;
    this.heldCount = 0;
    if (this.rows.length > MOST_ROWS) this.thin();
  }

  thin() {
    const thinned = [];
    for (let i = 0; i + 1 < this.rows.length; i += 2) thinned.push(merged(this.rows[i], this.rows[i + 1], 1));
    if (this.rows.length % 2) {
      this.held = this.rows.at(-1);
      this.heldCount = this.stride;
    }
    this.rows = thinned;
    this.stride *= 2;
    this.generation += 1;
  }

  // The row at a time, or the nearest.
  at(time) {
    const { rows } = this;
    let low = 0, high = rows.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle].time < time) low = middle + 1; else high = middle;
    }
    if (low > 0 && time - rows[low - 1].time < rows[low].time - time) low -= 1;
    return rows[low];
  }
}
