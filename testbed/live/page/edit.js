// The form that sets thresholds: there for whoever has the address with the token that the run has printed.
class Edit {
  constructor(view) {
    this.view = view;
    this.token = location.hash.slice(1);
    this.form = document.getElementById("thresholds");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
  }

  scene() {
    document.getElementById("edit").hidden = !(this.token && this.view.scene.editable);
  }

  // Where thresholds can be set: what stands before their names in a key.
  aim(port) {
    const { scene } = this.view, { name } = scene.ports[port];
    const queues = scene.queues.filter((queue) => queue.port === name).map((queue) => `q${queue.queue}`);
    const places = [["all queues", ""], [`all of ${name}`, `${name}.`]];
    if (!queues.length) places[1][0] = name;
    for (const queue of queues) places.push([`${queue} everywhere`, `${queue}.`], [`${queue} of ${name}`, `${name}.${queue}.`]);
    const { where } = this.form.elements, before = where.value;
    where.replaceChildren(...places.map(([text, key]) => new Option(text, key)));
    if (places.some(([, key]) => key === before)) where.value = before;
  }

  async send() {
    const { where, kmin, kmax, pmax } = this.form.elements;
    const told = [kmin, kmax, pmax].filter((input) => input.value.trim());
    const set = Object.fromEntries(told.map((input) => [where.value + input.name, input.value.trim()]));
    if (!told.length) return put("edited", "nothing to set");
    put("edited", "...");
    try {
      const headers = { "Content-Type": "application/json", "X-Token": this.token };
      const answer = await (await fetch("edit", { method: "POST", headers, body: JSON.stringify({ set }) })).json();
      put("edited", answer.problem ?? `${answer.what} at ${show(answer.at, "time")}`);
    } catch {
      put("edited", "the run has ended, or does not answer");
    }
  }
}
