// Numbers and names as people read them, and elements as code makes them.

export const at = (id) => document.getElementById(id);

// What goes on, for people who see it and for those who hear it.
export function say(words) {
  at("status").textContent = words;
}

export function fail(words) {
  at("error").hidden = !words;
  at("error").textContent = words;
}

export function signed(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  return (value < 0 && Number(text) !== 0 ? "\u2212" : "+") + text;
}

export function percent(share) {
  if (share > 0.995) return "> 99 %"; // nothing that was learned is certain
  return share < 0.005 ? "< 1 %" : `${Math.round(100 * share)} %`;
}

// Whether the best label of a part is what the part is known to be; nothing where that is not known.
export function verdict(truth, number, best) {
  if (!truth || truth[number] === undefined) return "";
  return truth[number] === best.label ? ", right" : `, is ${truth[number]}`;
}

export function listed(names) {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

export function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

export function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

// Whether a score is high enough for a label to be predicted.
export function isAbove(answer, label, score) {
  return score > answer.thresholds[answer.label_names.indexOf(label)];
}

// The best label of a graph, and whether it is above its threshold.
export function bestOf(answer, graph) {
  const scores = answer.graphs[graph].scores;
  let best = 0;
  for (let c = 1; c < scores.length; c++) if (scores[c] > scores[best]) best = c;
  return { label: answer.label_names[best], score: scores[best], found: scores[best] > answer.thresholds[best] };
}

// What each node adds to a label, and the largest of it; null where the answer does not say.
export function contributionsTo(answer, label) {
  const row = label && answer.explanation ? answer.explanation.labels.indexOf(label) : -1;
  if (row < 0) return null;
  const values = answer.explanation.contributions[row];
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return { values, largest: largest || 1 };
}
