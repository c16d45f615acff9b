// A text with its sentences, or graphs with their nodes: the best label of each, and what decided for one label.

import { copyOf, linkNodes, networkOf, pictureOf } from "./networks.js";
import { bestOf, contributionsTo, isAbove, make, signed } from "./words.js";

const STRONG = 0.6;

export class TextView {
  constructor(box) {
    this.box = box;
    this.answer = null;
    linkNodes(box);
  }

  // `drawFor` gives the drawing about another label, where there are drawings.
  show(answer, drawFor) {
    this.answer = answer;
    this.drawFor = drawFor;
    this.box.hidden = false;
    this.drawing = answer.drawing ? make("img", "drawing") : null;
    this.drawn = null;
    this.choose(null, null);
  }

  clear() {
    this.answer = null;
    this.box.hidden = true;
  }

  choose(label, graph) {
    if (!this.answer) return;
    const heat = label && contributionsTo(this.answer, label);
    if (this.drawing) this.draw(label || this.answer.labels[0].name);
    this.box.classList.toggle("heated", Boolean(heat));
    const parts = this.answer.texts.map((part) => this.sentence(part, heat, label, graph));
    const networks = make("div", "networks");
    for (const network of this.answer.networks || []) networks.append(this.network(network, heat, graph));
    this.box.replaceChildren(...(this.drawing ? [this.drawing] : []), networks, ...parts);
  }

  // A drawing is about one label; one that comes late, when another is wanted, is ignored.
  async draw(label) {
    if (this.drawn === label) return;
    this.drawn = label;
    const { answer, drawing } = this;
    const isBest = label === answer.labels[0].name;
    drawing.classList.toggle("late", !isBest);
    const svg = isBest ? answer.drawing : await this.drawFor(label).catch(() => null);
    if (this.answer !== answer || this.drawn !== label) return;
    if (svg) fill(drawing, svg, label);
    drawing.classList.remove("late");
    drawing.hidden = !svg; // better none than one about another label
  }

  network(network, heat, chosen) {
    const { name, nodes } = this.answer.graphs[network.graph];
    const part = this.answer.texts[network.graph];
    const letters = Array.from(part.text);
    const words = part.marks.map(([start, stop]) => letters.slice(start, stop).join(""));
    const figure = networkOf(network, name, words, nodes[0], heat, this.answer.familiarity.unknown);
    figure.classList.toggle("chosen", network.graph === chosen);
    return figure;
  }

  asPicture() {
    return this.drawing ? copyOf(this.drawing) : pictureOf(Array.from(this.box.querySelectorAll(".network")));
  }

  sentence(part, heat, label, chosen) {
    const line = make("p", `sentence${part.graph === chosen ? " chosen" : ""}`);
    line.dir = "auto"; // from right to left where the text is
    const letters = Array.from(part.text); // places are counted in characters, not in UTF-16 units
    let at = 0;
    for (const [start, stop, node] of part.marks) {
      line.append(letters.slice(at, start).join(""), this.marked(letters.slice(start, stop).join(""), heat, node));
      at = stop;
    }
    line.append(letters.slice(at).join(""));
    line.append(this.verdict(part.graph, label));
    return line;
  }

  marked(word, heat, node) {
    const mark = make("mark", "", word);
    mark.dataset.node = node;
    const isUnknown = this.answer.familiarity.unknown.includes(node);
    if (heat) {
      const value = heat.values[node];
      const strength = Math.abs(value) / heat.largest;
      mark.className = value < 0 ? "against" : value > 0 ? "for" : ""; // what is new to the model says nothing
      if (strength > STRONG) mark.classList.add("strong");
      mark.style.setProperty("--strength", strength.toFixed(3));
      mark.title = signed(value, 3);
    }
    if (isUnknown) {
      mark.classList.add("unknown");
      mark.title = "never seen in training";
    }
    return mark;
  }

  verdict(graph, label) {
    const best = bestOf(this.answer, graph);
    const score = label ? this.answer.graphs[graph].scores[this.answer.label_names.indexOf(label)] : best.score;
    const found = isAbove(this.answer, label || best.label, score);
    return make("span", `best${found ? " found" : ""}`, found || label ? `${label || best.label} ${signed(score)}` : "");
  }
}

function fill(image, svg, label) {
  URL.revokeObjectURL(image.src);
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  image.alt = `The graphs of the input, their nodes coloured by what they say for ${label}`;
}
