// An answer on the page: keeps picture or text, lists and legend in step with the label and the part that are chosen.

import { fillGraphs, fillLabels } from "./lists.js";
import { fillPainted } from "./painting.js";
import { PictureView } from "./picture.js";
import { TextView } from "./reading.js";
import { refreshOffers } from "./takehome.js";
import { at, contributionsTo, counted, listed, say, signed } from "./words.js";

const PANELS = ["label-panel", "graph-panel", "take-panel", "legend", "painting", "notice"];

export class AnswerView {
  constructor(onLabel, drawFor) {
    this.onLabel = onLabel; // called when a person chooses a label
    this.drawFor = drawFor; // gives the drawing about a label
    this.picture = new PictureView(at("picture"), at("canvas"), at("tags"), (region) => region >= 0 && this.chooseGraph(region));
    this.reading = new TextView(at("reading"));
    this.clear();
    at("opacity").addEventListener("input", () => this.setOpacity());
    at("more").addEventListener("click", () => {
      this.showAll = !this.showAll;
      this.refresh();
    });
    this.setOpacity();
  }

  clear() {
    Object.assign(this, { answer: null, model: null, label: null, graph: null, showAll: false });
    for (const id of PANELS) at(id).hidden = true;
    at("empty").hidden = false;
    this.picture.clear();
    this.reading.clear();
  }

  // `truth` is what each part is, where that is known; a label of the answer before it stays chosen where it can.
  show(model, answer, { bitmap, title, truth, label }) {
    const kept = contributionsTo(answer, label) ? label : null;
    Object.assign(this, { model, answer, truth, label: kept, graph: null, showAll: false });
    at("empty").hidden = true;
    for (const id of ["label-panel", "graph-panel", "take-panel"]) at(id).hidden = false;
    if (answer.picture) {
      this.reading.clear();
      this.picture.show(bitmap, answer, model.plain, truth);
    } else {
      this.picture.clear();
      this.reading.show(answer, this.drawFor);
    }
    if (answer.painting) fillPainted(at("painted"), answer, this.picture.shares());
    const parts = counted(answer.graphs.length, model.part);
    at("canvas").setAttribute("aria-label", `${title || "The image"} with ${parts} outlined`);
    this.refresh();
    refreshOffers(model, answer);
    at("notice").hidden = !answer.familiarity.warning;
    at("notice").textContent = answer.familiarity.warning || "";
    say(`${this.verdict()}; ${parts}.`);
  }

  // As it is on the page, names included.
  asPicture() {
    return this.answer.picture ? this.picture.asPicture() : this.reading.asPicture();
  }

  verdict() {
    const found = this.answer.labels.filter((label) => label.predicted).map((label) => label.name);
    return found.length ? `Found ${listed(found)}` : "No label is above the threshold";
  }

  refresh() {
    const { answer, label, graph, model } = this;
    const more = fillLabels(at("labels"), answer, this.showAll, label, (name) => this.chooseLabel(name));
    at("more").hidden = more === 0;
    at("more").textContent = this.showAll ? "Show fewer" : `Show ${counted(more, "more label")}`;
    at("scale").textContent = model.probabilities
      ? "The probability that the label is right, as it was on training data that the model had not seen."
      : "Above 0 the model says yes, below it no; the further from 0, the surer. These are no probabilities.";
    at("graphs-scale").hidden = !model.probabilities; // where they are, only the whole has them
    const parts = `${model.part.charAt(0).toUpperCase()}${model.part.slice(1)}s`;
    at("graphs-title").textContent = at("table-graph").textContent = parts;
    fillGraphs(at("graphs"), answer, label, graph, this.truth, (number) => this.chooseGraph(number));
    if (answer.picture) this.picture.choose(label, graph);
    else this.reading.choose(label, graph);
    this.refreshLegend();
    at("painting").hidden = !answer.painting || model.plain || Boolean(label); // a heat map takes its place
  }

  refreshLegend() {
    const heat = contributionsTo(this.answer, this.label);
    at("legend").hidden = !heat;
    if (!heat) return;
    at("legend-title").textContent = `What speaks for ${this.label}`;
    at("legend-low").textContent = `against ${signed(-heat.largest)}`;
    at("legend-high").textContent = `for ${signed(heat.largest)}`;
  }

  chooseLabel(name) {
    this.label = this.label === name ? null : name;
    this.keepFocus();
    say(this.label ? `Showing what speaks for ${name}.` : "Showing all parts.");
    this.onLabel();
  }

  chooseGraph(number) {
    this.graph = this.graph === number ? null : number;
    this.keepFocus();
  }

  keepFocus() {
    const list = document.activeElement && document.activeElement.closest("ol");
    const place = list ? Array.from(list.querySelectorAll("button")).indexOf(document.activeElement) : -1;
    this.refresh();
    if (place >= 0) list.querySelectorAll("button")[place].focus();
  }

  setOpacity() {
    at("opacity-value").textContent = `${at("opacity").value} %`;
    this.picture.paint(Number(at("opacity").value) / 100);
  }
}
