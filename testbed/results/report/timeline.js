// The controller's decisions for a chosen flow: the plot, the biggest changes, and the steps around the chosen one.
"use strict";
held("timeline").then((timelines) => {
  const section = document.getElementById("decisions");
  const find = (selector) => section.querySelector(selector);
  const AROUND = 8; // steps before and after
  let timeline = timelines[0];
  let chosen = 0;
  let chart = null;

  function element(tag, text, attributes = {}) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    Object.assign(made, attributes);
    return made;
  }

  const chips = timelines.map((one) => {
    const chip = element("button", one.flow + " ", { type: "button" });
    if (one.chosen) chip.append(element("span", one.chosen));
    chip.addEventListener("click", () => show(one));
    return chip;
  });
  find(".flows").append(...chips);

  function show(one) {
    timeline = one;
    if (chart) chart.show(unpacked(one.plot));
    else chart = drawn(document.getElementById("timeline-plot"), one.plot, { clicked: (x) => choose(nearest(x)) });
    chips.forEach((chip, number) => chip.setAttribute("aria-pressed", timelines[number] === one));
    find("#timeline-title").textContent = one.plot.title;
    find("#timeline-note").textContent = one.plot.note + (one.note ? "; " + one.note : "");
    find(".changes").replaceChildren(...(one.changes.length ? one.changes.map(changeRow) : [element("li", "It never changed.")]));
    choose(one.changes.length ? one.changes[0].step : 0);
  }

  function changeRow(change) {
    const row = element("li");
    const button = element("button", undefined, { type: "button" });
    button.dataset.step = change.step;
    button.append(
      element("b", change.percent, { className: change.percent.startsWith("\u2212") ? "cut" : "raise" }),
      element("span", `${change.decided} at ${(1e3 * change.time).toFixed(4)} ms`),
      element("small", change.told)
    );
    button.addEventListener("click", () => choose(change.step));
    row.append(button);
    return row;
  }

  function choose(step) {
    chosen = Math.max(0, Math.min(step, timeline.steps.length - 1));
    const at = timeline.steps[chosen][0];
    for (const button of section.querySelectorAll(".changes button")) {
      button.setAttribute("aria-current", Number(button.dataset.step) === chosen);
    }
    find(".steps output").textContent = at.toFixed(4) + " ms";
    const from = Math.max(0, Math.min(chosen - AROUND, timeline.steps.length - 2 * AROUND - 1));
    const rows = timeline.steps.slice(from, from + 2 * AROUND + 1).map(([time, ...texts], number) => {
      const row = element("tr");
      row.setAttribute("aria-current", from + number === chosen);
      row.append(element("td", time.toFixed(4)), ...texts.map((text) => element("td", text)));
      return row;
    });
    find("tbody").replaceChildren(...rows);
    chart.mark(at);
  }

  function nearest(time) {
    const far = (step) => Math.abs(timeline.steps[step][0] - time);
    let best = 0;
    for (let step = 1; step < timeline.steps.length; step++) if (far(step) < far(best)) best = step;
    return best;
  }

  show(timeline);
  find(".earlier").addEventListener("click", () => choose(chosen - 1));
  find(".later").addEventListener("click", () => choose(chosen + 1));
});
