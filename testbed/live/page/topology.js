// The rack as a picture. Nodes and links come from the ports alone: a port is a link from its switch to a host or to
// another switch. One switch sits in the middle of its hosts; several stand in tiers, each leaf above its own hosts.
const SVG = "http://www.w3.org/2000/svg";
const VIEW = { width: 400, height: 270 };
const LEVELS = [0.01, 0.2, 0.5, 0.8, 0.95]; // of the rate; the colours u0 ... u5 lie between them, as in the report

function shape(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return parent.appendChild(element);
}

// Places on part of an ellipse, in as many rings as the hosts need: [{ x, y }, ...].
function fan(count, centre, radii, from, to) {
  const rings = Math.max(1, Math.ceil(Math.sqrt(count / 90)));
  const ring = (i) => (rings === 1 ? 1 : 0.45 + (0.55 * i) / (rings - 1)); // its size
  const total = Array.from({ length: rings }, (_, i) => ring(i)).reduce((a, b) => a + b);
  const places = [];
  for (let i = 0, left = count; i < rings; i++) {
    const here = i === rings - 1 ? left : Math.round((count * ring(i)) / total);
    left -= here;
    for (let k = 0; k < here; k++) {
      const full = to - from > 6.28; // then the last stands at the end, which is also the beginning
      const angle = from + ((to - from) * (k + (full ? 1 : 0.5))) / here;
      places.push({ x: centre.x + radii.x * ring(i) * Math.cos(angle), y: centre.y + radii.y * ring(i) * Math.sin(angle) });
    }
  }
  return places;
}

// The place of every node by name; `last` is put at the right end, where the eye finds it.
function places(ports, last) {
  const switches = [...new Set(ports.map((port) => port.switch))];
  const isSwitch = new Set(switches);
  const hosts = new Map(switches.map((name) => [name, []]));
  for (const port of ports) if (!isSwitch.has(port.to)) hosts.get(port.switch).push(port.to);
  const found = new Map();
  if (switches.length === 1) {
    const centre = { x: VIEW.width / 2, y: VIEW.height / 2 };
    const own = hosts.get(switches[0]);
    const order = own.includes(last) ? [...own.filter((name) => name !== last), last] : own;
    const spots = fan(order.length, centre, { x: 152, y: 112 }, 0, 2 * Math.PI);
    order.forEach((name, i) => found.set(name, spots[i]));
    found.set(switches[0], centre);
    return found;
  }
  const tiers = tiersOf(ports, hosts, isSwitch);
  const step = (VIEW.height - 110) / Math.max(1, tiers.length - 1);
  tiers.forEach((tier, height) => {
    const room = VIEW.width / tier.length;
    tier.forEach((name, i) => {
      const centre = { x: (i + 0.5) * room, y: 30 + (tiers.length - 1 - height) * step };
      found.set(name, centre);
      const own = hosts.get(name);
      const spots = fan(own.length, centre, { x: room * 0.44, y: 62 }, 0.1 * Math.PI, 0.9 * Math.PI).reverse();
      own.forEach((host, k) => found.set(host, spots[k]));
    });
  });
  return found;
}

// Switches by how far they are from the hosts: leaves, spines, ...
function tiersOf(ports, hosts, isSwitch) {
  const tiers = [[...isSwitch].filter((name) => hosts.get(name).length)];
  const placed = new Set(tiers[0]);
  while (placed.size < isSwitch.size) {
    const next = new Set();
    for (const { switch: a, to: b } of ports) {
      if (placed.has(a) && isSwitch.has(b) && !placed.has(b)) next.add(b);
      if (placed.has(b) && isSwitch.has(a) && !placed.has(a)) next.add(a);
    }
    if (!next.size) [...isSwitch].filter((name) => !placed.has(name)).forEach((name) => next.add(name));
    for (const name of next) placed.add(name);
    tiers.push([...next]);
  }
  return tiers;
}

class Topology {
  constructor(view) {
    this.view = view;
    this.svg = document.getElementById("topology");
    this.links = [];
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerdown", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.view.hideTip());
    this.svg.addEventListener("click", (event) => {
      const port = event.target.dataset.port;
      if (port !== undefined) this.view.choose(Number(port));
    });
  }

  build() {
    const { scene } = this.view;
    const { ports } = scene;
    const bottleneck = ports.findIndex((port) => port.name === scene.bottleneck);
    const where = places(ports, ports[bottleneck]?.to);
    const switches = new Set(ports.map((port) => port.switch));
    const count = where.size - switches.size;
    const radius = Math.max(1.2, Math.min(7, 150 / Math.sqrt(count) / 6));
    this.svg.replaceChildren();
    this.svg.dataset.size = count > 300 ? "huge" : count > 40 ? "large" : "small";
    const [links, nodes, areas] = ["links", "nodes", "areas"].map((name) => shape("g", { class: name }, this.svg));
    this.uplinks = ports.map((port) => scene.flows.flatMap((flow, i) => (flow.src === port.to ? [i] : [])));
    this.links = ports.map((port, i) => this.link(port, i, where, switches, { links, areas }));
    this.halo = shape("circle", { class: "halo", r: radius + 4 }, nodes);
    for (const [name, { x, y }] of where) {
      if (switches.has(name)) {
        const size = switches.size === 1 ? 13 : Math.max(5, 13 - switches.size / 4);
        shape("rect", { class: "switch", x: x - size, y: y - size * 0.7, width: 2 * size, height: 1.4 * size, rx: 3 }, nodes);
        if (switches.size <= 12) this.label(nodes, name, x, y + 3.5, "switch-name");
      } else {
        const end = ports[bottleneck]?.to === name;
        shape("circle", { class: end ? "host end" : "host", cx: x, cy: y, r: end ? Math.max(radius, 4) : radius }, nodes);
        if (count <= 16 || end) this.nameHost(nodes, name, where, ports, radius);
      }
    }
    this.mark = bottleneck;
    this.aim(this.view.port);
    this.svg.setAttribute("aria-label", `Topology: ${switches.size} switch(es), ${count} hosts; bottleneck ${scene.bottleneck}`);
  }

  // A host's name stands outside, away from its switch.
  nameHost(parent, name, where, ports, radius) {
    const own = where.get(name), centre = where.get(ports.find((port) => port.to === name).switch);
    const length = Math.hypot(own.x - centre.x, own.y - centre.y) || 1;
    const aside = (own.x - centre.x) / length, down = (own.y - centre.y) / length;
    const away = Math.max(radius, 4) + 6;
    const anchor = aside > 0.3 ? "start" : aside < -0.3 ? "end" : "middle";
    const x = own.x + aside * away;
    if (x > VIEW.width - 25) return this.label(parent, name, VIEW.width - 2, own.y + away + 9, "host-name end"); // no room
    this.label(parent, name, x, own.y + down * away + 3.5, "host-name " + anchor);
  }

  label(parent, text, x, y, kind) {
    shape("text", { class: kind, x, y }, parent).textContent = text;
  }

  link(port, index, where, switches, layers) {
    const from = where.get(port.switch), to = where.get(port.to);
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const aside = switches.has(port.to) ? 2 : 0; // between switches, the two directions lie side by side
    const dx = (-(to.y - from.y) / length) * aside, dy = ((to.x - from.x) / length) * aside;
    const line = { x1: from.x + dx, y1: from.y + dy, x2: to.x + dx, y2: to.y + dy };
    const ends = port.name === this.view.scene.bottleneck;
    const element = shape("line", { ...line, class: "link u0" + (ends ? " bottleneck" : "") }, layers.links);
    shape("line", { ...line, "data-port": index }, layers.areas); // wide and unseen: easy to hit
    return { element, step: 0, to };
  }

  // The higher of both directions; towards the switch it is what the host's flows delivered.
  draw(update) {
    this.links.forEach((link, i) => {
      const busy = Math.max(update.ports.utilisation[i] ?? 0, this.sent(update, i));
      const step = LEVELS.filter((level) => busy >= level).length;
      if (step === link.step) return;
      link.element.classList.replace("u" + link.step, "u" + step);
      link.step = step;
    });
  }

  sent(update, port) {
    const total = this.uplinks[port].reduce((sum, i) => sum + (update.flows.goodput[i] ?? 0), 0);
    return total / this.view.scene.ports[port].rate;
  }

  // Ring the far end of the port whose curves are shown.
  aim(port) {
    const { to } = this.links[port] ?? {};
    if (!to) return;
    this.halo.setAttribute("cx", to.x);
    this.halo.setAttribute("cy", to.y);
  }

  point(event) {
    const index = event.target.dataset.port;
    const update = this.view.newest;
    if (index === undefined) return this.view.hideTip();
    const port = this.view.scene.ports[index];
    const lines = [`${port.name} → ${port.to}${port.name === this.view.scene.bottleneck ? ", the bottleneck" : ""}`];
    if (update) {
      lines.push(`utilisation ${show(update.ports.utilisation[index], "share")} of ${show(port.rate, "rate")}`);
      lines.push(`queue ${show(update.ports.queue[index], "bytes")}, highest ${show(update.ports.queue_max[index], "bytes")}`);
      if (this.uplinks[index].length) lines.push(`goodput from ${port.to} ${show(this.sent(update, index), "share")}`);
      if (update.ports.drops[index]) lines.push(`${show(update.ports.drops[index], "count")} packets dropped`);
    }
    this.view.showTip(event.clientX, event.clientY, lines);
  }
}
