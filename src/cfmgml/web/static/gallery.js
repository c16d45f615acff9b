// Several inputs at once: a card for each with what was found in it, and one table of all of them.

import { save } from "./takehome.js";
import { at, counted, listed, make } from "./words.js";

export class Gallery {
  constructor(onOpen) {
    this.onOpen = onOpen; // called with a file that is chosen
    at("gallery-table").addEventListener("click", () => save(tableOf(this.done), `${this.model.name}-bags.csv`));
    this.clear();
  }

  clear() {
    for (const image of at("cards").querySelectorAll("img")) URL.revokeObjectURL(image.src);
    at("cards").replaceChildren();
    at("gallery").hidden = true;
    this.done = [];
  }

  // One after the other, so that they take one place of the server; `read` gives the answer for a file. Gives the first
  // that could be read, or else the first of all.
  async fill(model, files, read, signal) {
    this.clear();
    this.model = model;
    at("gallery").hidden = false;
    const cards = files.map((file) => this.card(file));
    at("cards").replaceChildren(...cards.map((card) => card.item));
    for (const [number, file] of files.entries()) {
      if (signal.aborted) return null;
      this.count(`Reading ${number + 1} of ${files.length} …`);
      try {
        const answer = await read(file, signal);
        if (signal.aborted) return null;
        this.done.push({ file, name: file.name, answer: { labels: answer.labels, label_names: answer.label_names } });
        const found = answer.labels.filter((label) => label.predicted).map((label) => label.name);
        cards[number].words.textContent = found.length ? listed(found) : "no label";
      } catch (error) {
        if (signal.aborted) return null;
        cards[number].words.textContent = error.message;
        cards[number].item.classList.add("unread");
      }
    }
    const unread = files.length - this.done.length;
    this.count(`${counted(this.done.length, "input")} read${unread ? `, ${unread} could not be` : ""}.`);
    return this.done.length ? this.done[0].file : files[0];
  }

  count(words) {
    at("gallery-count").textContent = words;
    at("gallery-table").disabled = !this.done.length;
  }

  card(file) {
    const item = make("li");
    const button = make("button", "card");
    button.type = "button";
    if (file.type.startsWith("image/")) {
      const image = make("img");
      image.src = URL.createObjectURL(file);
      image.alt = "";
      button.append(image);
    }
    const words = make("span", "hint", "…");
    button.append(make("span", "name", file.name), words);
    button.addEventListener("click", () => this.onOpen(file));
    item.append(button);
    return { item, words };
  }
}

// The columns of `cfmgml predict`, a row an input; the bag is called as its file.
export function tableOf(done) {
  const names = done[0].answer.label_names;
  const numbers = done[0].answer.labels[0].probability === null ? ["score"] : ["score", "probability"];
  const head = ["bag", "labels", "best", ...numbers.flatMap((what) => names.map((name) => `${what}:${name}`))];
  const rows = done.map(({ name, answer }) => {
    const label = new Map(answer.labels.map((one) => [one.name, one]));
    const found = names.filter((one) => label.get(one).predicted).join(";");
    return [name, found, answer.labels[0].name, ...numbers.flatMap((what) => names.map((one) => label.get(one)[what]))];
  });
  const lines = [head, ...rows].map((row) => row.map(cell).join(","));
  return new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" });
}

function cell(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
