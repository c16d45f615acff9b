// The label of every superpixel as a layer of colours, and what the colours mean.

import { indexedPng } from "./png.js";
import { make } from "./words.js";

const rgb = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

// How much of the picture each label has: [place in label_names, share], the largest first; -1 is none.
export function shares(painting, nodes) {
  const counts = new Map();
  for (const node of nodes) {
    const label = node < 0 ? -1 : painting.nodes[node];
    counts.set(label, (counts.get(label) || 0) + 1);
  }
  return Array.from(counts, ([label, count]) => [label, count / nodes.length]).sort((a, b) => b[1] - a[1]);
}

export function layerOf(painting, nodes, width, height) {
  const image = new ImageData(width, height);
  const colours = painting.colours.map(rgb);
  nodes.forEach((node, k) => {
    const label = node < 0 ? -1 : painting.nodes[node];
    if (label >= 0) image.data.set([...colours[label], 255], 4 * k);
  });
  const layer = new OffscreenCanvas(width, height);
  layer.getContext("2d").putImageData(image, 0, 0);
  return layer;
}

export function fillPainted(list, answer, parts) {
  const last = parts.filter(([label]) => label < 0); // what has no label comes last
  list.replaceChildren(
    ...[...parts.filter(([label]) => label >= 0), ...last].map(([label, share]) => {
      const item = make("li");
      const swatch = make("span", label < 0 ? "swatch none" : "swatch");
      swatch.setAttribute("aria-hidden", "true");
      if (label >= 0) swatch.style.setProperty("--colour", answer.painting.colours[label]);
      const name = label < 0 ? "no label" : answer.label_names[label];
      item.append(swatch, make("span", "name", name), make("span", "share", `${Math.max(1, Math.round(100 * share))} %`));
      return item;
    }),
  );
}

// As `cfmgml predict --masks` numbers them: 0 is none, 1 the first of label_names; 255 numbers are the most of a PNG.
export function maskOf({ painting, picture }, nodes) {
  if (painting.colours.length > 255) throw new Error("A mask has 255 labels at most.");
  const pixels = Uint8Array.from(nodes, (node) => (node < 0 ? 0 : painting.nodes[node] + 1));
  return indexedPng(picture.width, picture.height, pixels, [[0, 0, 0], ...painting.colours.map(rgb)]);
}
