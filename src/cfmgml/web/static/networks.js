// Graphs as networks: nodes in circles, coloured by what they say for a label, and linked to their words in the text.

import { make, signed } from "./words.js";

const SIZE = 220;
const MARGIN = 22;
const SVG = "http://www.w3.org/2000/svg";

function draw(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// One drawing a graph; `words` are the nodes' names, `first` is the number of the graph's first node.
export function networkOf({ places, edges }, title, words, first, heat, unknown) {
  const figure = make("figure", "network");
  const picture = draw("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": `${title}, drawn` });
  const at = places.map(([x, y]) => [across(x), across(-y)]);
  for (const [a, b] of edges) {
    picture.append(draw("line", { x1: at[a][0], y1: at[a][1], x2: at[b][0], y2: at[b][1], class: "edge" }));
  }
  at.forEach(([x, y], k) => picture.append(nodeAt(x, y, words[k], first + k, heat, unknown.includes(first + k))));
  figure.append(picture, make("figcaption", "hint", title));
  return figure;
}

function across(value) {
  return MARGIN + ((value + 1) / 2) * (SIZE - 2 * MARGIN);
}

function nodeAt(x, y, word, number, heat, isUnknown) {
  const node = draw("g", { class: `node${isUnknown ? " unknown" : ""}`, "data-node": number });
  const value = heat ? heat.values[number] : 0;
  const circle = draw("circle", { cx: x, cy: y, r: 12, class: value < 0 ? "against" : value > 0 ? "for" : "" });
  circle.style.setProperty("--strength", heat ? (Math.abs(value) / heat.largest).toFixed(3) : 0);
  const name = draw("text", { x, y: y + 4, "text-anchor": "middle" });
  name.textContent = word.length > 4 ? `${word.slice(0, 3)}…` : word;
  const title = draw("title", {});
  title.textContent = isUnknown ? `${word}: never seen in training` : heat ? `${word}: ${signed(value, 3)}` : word;
  node.append(circle, name, title);
  return node;
}

// What the pointer is on stands out in the text and in the drawing alike.
export function linkNodes(box) {
  const light = (number) => {
    for (const one of box.querySelectorAll("[data-node]")) one.classList.toggle("lit", one.dataset.node === number);
  };
  box.addEventListener("pointerover", (event) => light(event.target.closest("[data-node]")?.dataset.node));
  box.addEventListener("pointerleave", () => light(undefined));
}

// All drawings side by side, as one picture.
export async function pictureOf(figures, scale = 2) {
  const across = Math.min(figures.length, 4);
  const canvas = make("canvas");
  canvas.width = scale * SIZE * across;
  canvas.height = scale * SIZE * Math.ceil(figures.length / across);
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(document.querySelector(".stage")).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const [k, figure] of figures.entries()) {
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([styled(figure)], { type: "image/svg+xml" }));
    await image.decode();
    context.drawImage(image, scale * SIZE * (k % across), scale * SIZE * Math.floor(k / across), scale * SIZE, scale * SIZE);
    URL.revokeObjectURL(image.src);
  }
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// A drawing that the server made, as a picture of pixels.
export async function copyOf(image, scale = 2) {
  await image.decode();
  const canvas = make("canvas");
  canvas.width = scale * image.naturalWidth;
  canvas.height = scale * image.naturalHeight;
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// A copy that looks the same without the page's style sheet.
function styled(figure) {
  const from = figure.querySelector("svg");
  const copy = from.cloneNode(true);
  copy.setAttribute("width", SIZE);
  copy.setAttribute("height", SIZE);
  const parts = copy.querySelectorAll("*");
  from.querySelectorAll("*").forEach((one, k) => {
    const style = getComputedStyle(one);
    for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font"]) parts[k].style.setProperty(name, style.getPropertyValue(name));
  });
  return new XMLSerializer().serializeToString(copy);
}
