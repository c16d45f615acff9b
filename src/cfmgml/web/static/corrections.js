// What people say is right, kept on the page until they take it home as bags that `cfmgml train` learns from.

import { askForBags } from "./api.js";
import { save } from "./takehome.js";
import { at, counted, fail, make, say } from "./words.js";

export class Corrections {
  // `shown` gives what is on the page now.
  constructor(shown) {
    this.shown = shown;
    this.kept = new Map(); // by the name of the model, by what the input is
    at("correct-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.keep();
    });
    at("corrections").addEventListener("click", () => this.download());
    at("forget").addEventListener("click", () => {
      this.kept.delete(this.shown().model.name);
      this.count();
    });
  }

  of(model) {
    if (!this.kept.has(model.name)) this.kept.set(model.name, new Map());
    return this.kept.get(model.name);
  }

  // The labels of the model as boxes, as they were predicted or, where somebody has said so, as they are.
  refresh() {
    const { model, input, view } = this.shown();
    const right = this.of(model).get(keyOf(input))?.labels || view.answer.labels.filter((one) => one.predicted).map((one) => one.name);
    at("correct-labels").replaceChildren(
      ...model.labels.map((name) => {
        const label = make("label");
        const box = make("input");
        Object.assign(box, { type: "checkbox", value: name, checked: right.includes(name) });
        label.append(box, name);
        return label;
      }),
    );
    this.count();
  }

  keep() {
    const { model, input, regions } = this.shown();
    const labels = Array.from(at("correct-labels").querySelectorAll("input:checked"), (box) => box.value);
    this.of(model).set(keyOf(input), { input, labels, regions });
    this.count();
    say(`Kept: ${input.title} has ${labels.length ? labels.join(", ") : "none of the labels"}.`);
  }

  count() {
    const { model } = this.shown();
    const number = this.of(model).size;
    at("kept").hidden = number === 0;
    at("kept-count").textContent = counted(number, "correction");
    at("kept-hint").textContent = `cfmgml train DATA.bags ${model.name}-corrections.bags -o NEW.cfmgml`;
  }

  async download() {
    const { model } = this.shown();
    try {
      const entries = named(Array.from(this.of(model).values()));
      save(await askForBags(model, entries), `${model.name}-corrections.bags`);
    } catch (error) {
      fail(error.message);
    }
  }
}

// What tells inputs apart: two of them may have one name.
function keyOf({ title, text, blob }) {
  return JSON.stringify([title, text, blob?.size, blob?.lastModified]);
}

// Entries with names, each once: a second "cat.png" is "cat.png (2)".
export function named(entries) {
  const taken = new Set();
  return entries.map((entry) => {
    let name = entry.input.title;
    for (let number = 2; taken.has(name); number++) name = `${entry.input.title} (${number})`;
    taken.add(name);
    return { ...entry, name };
  });
}
