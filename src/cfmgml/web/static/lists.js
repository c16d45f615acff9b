// The two lists beside the picture: labels of the whole, best first, and its parts.

import { bestOf, isAbove, make, percent, signed, verdict } from "./words.js";

const FEW = 8; // labels below the threshold that are shown at first

export function fillLabels(list, answer, showAll, pressed, onPress) {
  const found = answer.labels.filter((label) => label.predicted);
  const missed = answer.labels.filter((label) => !label.predicted);
  const most = answer.labels.reduce((size, label) => Math.max(size, Math.abs(label.margin)), 1e-9);
  const shown = showAll ? missed : missed.slice(0, FEW);
  const rows = found.map((label) => labelRow(answer, label, most, pressed, onPress));
  rows.push(make("li", "divide", found.length ? "below the threshold" : "nothing is above the threshold"));
  if (!missed.length) rows.pop();
  rows.push(...shown.map((label) => labelRow(answer, label, most, pressed, onPress)));
  list.replaceChildren(...rows);
  return missed.length - Math.min(missed.length, FEW);
}

function labelRow(answer, label, most, pressed, onPress) {
  const item = make("li", label.predicted ? "found" : "missed");
  const row = make("button", "row");
  row.type = "button";
  row.setAttribute("aria-pressed", String(label.name === pressed));
  const explained = answer.explanation && answer.explanation.labels.includes(label.name);
  row.disabled = !explained;
  const side = label.predicted ? "above" : "below";
  const part = answer.graphs[label.decided_by].name;
  const chance = label.probability === null ? "" : `, probability ${percent(label.probability)}`;
  row.setAttribute(
    "aria-label",
    `${label.name}: ${signed(label.score)}, ${side} the threshold by ${Math.abs(label.margin).toFixed(2)}, best in ${part}${chance}`,
  );
  row.title = `${label.name}: score ${signed(label.score, 4)}, the threshold is ${signed(label.score - label.margin, 4)}; best in ${part}${chance}`;
  row.append(make("span", "name", label.name), bar(label.margin / most), make("span", "score", label.probability === null ? signed(label.score) : percent(label.probability)));
  row.addEventListener("click", () => onPress(label.name));
  item.append(row);
  return item;
}

function bar(share) {
  const box = make("span", "bar");
  const fill = make("i", share > 0 ? "for" : "against");
  fill.style.setProperty("--size", Math.abs(share).toFixed(4));
  box.append(fill);
  return box;
}

// The parts, each with its best label; with a label chosen, with its score for that, and which of them decided.
export function fillGraphs(list, answer, label, pressed, truth, onPress) {
  const column = label ? answer.label_names.indexOf(label) : -1;
  const decider = label ? answer.labels.find((item) => item.name === label).decided_by : -1;
  list.replaceChildren(
    ...answer.graphs.map((graph, number) => {
      const best = bestOf(answer, number);
      const isRight = label ? "" : verdict(truth, number, best); // of the best label, which is shown
      const name = label || best.label;
      const score = label ? graph.scores[column] : best.score;
      const found = isAbove(answer, name, score);
      const item = make("li", found ? "found" : "missed");
      const row = make("button", "row");
      row.type = "button";
      row.setAttribute("aria-pressed", String(number === pressed));
      row.setAttribute(
        "aria-label",
        `${graph.name}: ${name} ${signed(score)}${found ? "" : ", below the threshold"}${number === decider ? ", decides" : ""}${isRight}`,
      );
      row.title = `${graph.name}: ${name} ${signed(score, 4)}`;
      const title = make("span", "name", found || label ? name : `${name}?`);
      if (number === decider) title.append(make("span", "decides", "decides"));
      if (answer.familiarity.unlike.includes(number)) title.append(make("span", "unlike", "unlike training"));
      if (isRight) title.append(make("span", "truth", isRight));
      row.append(make("span", "number", String(number + 1)), title, make("span", "score", signed(score)));
      row.addEventListener("click", () => onPress(number));
      item.append(row);
      return item;
    }),
  );
}
