// Numbers as engineers write them: SI in, "12.3 us", "205 kB", "94.1 Gbit/s" out.
"use strict";
const SCALES = {
  time: [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]],
  bytes: [["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["B", 1]],
  rate: [["Tbit/s", 1e12], ["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3], ["bit/s", 1]],
  share: [["%", 0.01]],
  plain: [["", 1]],
};
const UNKNOWN = "–";

// The unit in which a value of this size reads best: [name, size].
function unitFor(value, kind) {
  const scale = SCALES[kind];
  return scale.find(([, size]) => Math.abs(value) >= size * 0.9995) ?? scale[value === 0 ? 0 : scale.length - 1];
}

function digits(number, significant = 3) {
  if (number === 0) return "0";
  const decimals = Math.max(0, significant - 1 - Math.floor(Math.log10(Math.abs(number)) + 1e-9));
  return number.toFixed(Math.min(decimals, 4));
}

// "12.3 us"; a dash for what is not known.
function show(value, kind) {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  if (kind === "share") return (0 < value && value < 1e-3 ? digits(100 * value, 1) : (100 * value).toFixed(1)) + " %";
  if (kind === "plain") return value.toFixed(3);
  if (kind === "count") return Math.round(value).toLocaleString("en-US");
  if (value === 0) return "0 " + { time: "us", bytes: "kB", rate: "Gbit/s" }[kind];
  const [unit, size] = unitFor(value, kind);
  return digits(value / size) + " " + unit;
}

// A round number not below the value: the top of an axis.
function roundUp(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value * 0.9999) * power;
}

// About four round numbers from 0 to top.
function ticksTo(top) {
  const rough = top / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough * 0.9999) * power;
  const found = [];
  for (let tick = 0; tick <= top * 1.0001; tick += step) found.push(tick);
  return found;
}
