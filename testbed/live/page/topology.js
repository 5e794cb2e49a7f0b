// The rack as a picture: drawn by Python (testbed.results.report.topology), coloured here as the run goes on.
"use strict";
const LEVELS = [0.01, 0.2, 0.5, 0.8, 0.95]; // of the rate; the colours u0 ... u5 lie between them, as in the report

class Topology {
  constructor(view) {
    this.view = view;
    this.place = document.getElementById("topology");
    for (const name of ["pointermove", "pointerdown"]) this.place.addEventListener(name, (event) => this.point(event));
    this.layer = document.querySelector("#layer select");
    this.layer.addEventListener("change", () => this.view.newest && this.draw(this.view.newest));
    this.place.addEventListener("pointerleave", () => this.view.hideTip());
    this.place.addEventListener("click", (event) => {
      const port = this.portOf(event);
      if (port >= 0) this.view.choose(port);
    });
  }

  build() {
    const { scene } = this.view;
    const picture = new DOMParser().parseFromString(scene.topology, "image/svg+xml").documentElement;
    for (const title of picture.querySelectorAll("[data-port] > title")) title.remove(); // the tip says more
    this.place.replaceChildren(picture);
    this.numbers = new Map(scene.ports.map((port, i) => [port.name, i]));
    this.uplinks = scene.ports.map((port) => scene.flows.flatMap((flow, i) => (flow.src === port.to ? [i] : [])));
    this.parts = [...picture.querySelectorAll("[data-way]")].map((element) => {
      const { port, way } = element.dataset;
      return { element, port: this.numbers.get(port), way, look: element.tagName === "line" ? "stroke" : "fill", step: 0 };
    });
    for (const line of picture.querySelectorAll("line[data-port]")) { // wide and unseen: easy to hit
      const area = picture.appendChild(line.cloneNode());
      area.setAttribute("class", "area");
      delete area.dataset.way;
    }
    const named = new Map(scene.queues.map((queue) => [queue.queue, `q${queue.queue} ${queue.classes}`]));
    this.layer.replaceChildren(new Option("all", ""), ...[...named].map(([queue, name]) => new Option(name, queue)));
    this.layer.parentElement.hidden = !named.size;
    this.rows = new Map(scene.queues.map(({ port, queue }, i) => [`${port} ${queue}`, i]));
    this.aim(this.view.port);
  }

  // What a port sends, or one of its queues, as a share of its link.
  sent(update, port) {
    if (!this.layer.value) return update.ports.utilisation[port] ?? 0;
    return update.queues.utilisation[this.rows.get(`${this.view.scene.ports[port].name} ${this.layer.value}`)] ?? 0;
  }

  draw(update) {
    for (const part of this.parts) {
      const share = part.way === "sent" ? this.sent(update, part.port) : this.received(update, part.port);
      const step = LEVELS.filter((level) => share >= level).length;
      if (step !== part.step) part.element.setAttribute(part.look, `var(--u${step})`);
      part.step = step;
    }
  }

  // What the host's flows delivered, as a share of its link.
  received(update, port) {
    const total = this.uplinks[port].reduce((sum, i) => sum + (update.flows.goodput[i] ?? 0), 0);
    return total / this.view.scene.ports[port].rate;
  }

  // Put a halo around the port whose curves are shown.
  aim(port) {
    for (const old of this.place.querySelectorAll(".halo")) old.remove();
    for (const part of this.place.querySelectorAll("[data-port]:not(.area)")) {
      if (this.numbers.get(part.dataset.port) !== port) continue;
      const halo = part.cloneNode();
      halo.setAttribute("class", "halo");
      this.place.firstChild.prepend(halo);
    }
  }

  portOf(event) {
    return this.numbers?.get(event.target.dataset?.port) ?? -1;
  }

  point(event) {
    const index = this.portOf(event), update = this.view.newest;
    if (index < 0) return this.view.hideTip();
    const port = this.view.scene.ports[index];
    const lines = [`${port.name} → ${port.to}${port.name === this.view.scene.bottleneck ? ", the bottleneck" : ""}`];
    if (update) {
      lines.push(`utilisation ${show(update.ports.utilisation[index], "share")} of ${show(port.rate, "rate")}`);
      lines.push(`queue ${show(update.ports.queue[index], "bytes")}, highest ${show(update.ports.queue_max[index], "bytes")}`);
      if (this.uplinks[index].length) lines.push(`goodput from ${port.to} ${show(this.received(update, index), "share")}`);
      if (update.ports.drops[index]) lines.push(`${show(update.ports.drops[index], "count")} packets dropped`);
    }
    this.view.showTip(event.clientX, event.clientY, lines);
  }
}
