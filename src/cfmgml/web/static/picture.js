// An image with its regions: outlines, names, the painting, and the heat map of one label.

import { layerOf, shares } from "./painting.js";
import { bestOf, contributionsTo, isAbove, make, signed, verdict } from "./words.js";

const FOR = [214, 92, 8];
const AGAINST = [33, 98, 186];

function expand(runs, length) {
  const out = new Int32Array(length);
  let at = 0;
  for (let k = 0; k < runs.length; k += 2) {
    out.fill(runs[k], at, at + runs[k + 1]);
    at += runs[k + 1];
  }
  return out;
}

export class PictureView {
  constructor(box, canvas, tags, onPick) {
    this.box = box;
    this.canvas = canvas;
    this.tags = tags;
    this.answer = null;
    this.opacity = 0;
    canvas.addEventListener("click", (event) => onPick(this.regionAt(event)));
    new ResizeObserver(() => this.draw()).observe(box);
  }

  show(bitmap, answer, strip, truth) {
    const { width, height, nodes, regions } = answer.picture;
    this.answer = answer;
    this.truth = truth; // what each part is, where that is known
    this.label = this.region = null;
    this.nodes = expand(nodes, width * height);
    this.regions = expand(regions, width * height);
    this.outline = new Path2D();
    this.outlines = new Map();
    this.trace(width, height);
    this.bitmap = bitmap;
    this.plain = this.pixelsOf(bitmap, width, height);
    this.painting = answer.painting && !strip ? layerOf(answer.painting, this.nodes, width, height) : null;
    this.box.hidden = false;
    this.strip = strip;
    this.box.classList.toggle("strip", strip);
    this.draw();
  }

  clear() {
    this.answer = null;
    this.box.hidden = true;
  }

  // How much of the picture has which label.
  shares() {
    return shares(this.answer.painting, this.nodes);
  }

  paint(opacity) {
    this.opacity = opacity;
    this.draw();
  }

  choose(label, region) {
    this.label = label;
    this.region = region;
    this.draw();
  }

  pixelsOf(bitmap, width, height) {
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height);
    if (bitmap) context.drawImage(bitmap, 0, 0, width, height);
    return context.getImageData(0, 0, width, height);
  }

  // Lines between pixels of different regions, and all around each region.
  trace(width, height) {
    const at = (x, y) => (x < 0 || y < 0 || x >= width || y >= height ? -1 : this.regions[y * width + x]);
    const line = (region, x0, y0, x1, y1) => {
      if (region < 0) return;
      if (!this.outlines.has(region)) this.outlines.set(region, new Path2D());
      for (const path of [this.outline, this.outlines.get(region)]) {
        path.moveTo(x0, y0);
        path.lineTo(x1, y1);
      }
    };
    for (let y = 0; y <= height; y++) {
      for (let x = 0; x <= width; x++) {
        const here = at(x, y);
        for (const [other, ...ends] of [[at(x - 1, y), x, y, x, y + 1], [at(x, y - 1), x, y, x + 1, y]]) {
          if (other === here) continue;
          line(here, ...ends);
          line(other, ...ends);
        }
      }
    }
  }

  size() {
    const { width, height } = this.answer.picture;
    const room = this.box.clientWidth;
    const most = Math.max(240, window.innerHeight * 0.68);
    const scale = Math.min(room / width, most / height);
    return { scale, width: Math.round(width * scale), height: Math.round(height * scale) };
  }

  draw() {
    if (!this.answer || !this.box.clientWidth) return;
    const { scale, width, height } = this.size();
    const dense = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * dense);
    this.canvas.height = Math.round(height * dense);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext("2d");
    context.scale(dense * scale, dense * scale);
    this.drawBase(context);
    if (!this.label) this.drawPainting(context);
    this.drawLines(context, scale);
    this.drawTags(scale, width, height);
  }

  drawBase(context) {
    const { width, height } = this.answer.picture;
    const heat = this.label && contributionsTo(this.answer, this.label);
    context.imageSmoothingEnabled = !this.strip;
    if (!heat && this.bitmap) {
      if (this.painting) context.filter = `saturate(${1 - this.opacity})`; // so that its own colours do not mix in
      context.drawImage(this.bitmap, 0, 0, width, height);
      context.filter = "none";
      return;
    }
    const layer = new OffscreenCanvas(width, height);
    layer.getContext("2d").putImageData(heat ? this.heated(heat, width, height) : this.plain, 0, 0);
    context.drawImage(layer, 0, 0);
  }

  drawPainting(context) {
    if (!this.painting) return;
    context.save();
    context.globalAlpha = this.opacity;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.painting, 0, 0);
    context.restore();
  }

  // The photo in pale grey, and over each node a colour as strong as what it adds.
  heated({ values, largest }, width, height) {
    const out = new ImageData(width, height);
    const from = this.plain.data;
    for (let k = 0; k < this.nodes.length; k++) {
      const grey = 82 + 0.66 * (0.3 * from[4 * k] + 0.59 * from[4 * k + 1] + 0.11 * from[4 * k + 2]);
      const value = this.nodes[k] < 0 ? 0 : values[this.nodes[k]] / largest;
      const strength = 0.82 * Math.pow(Math.abs(value), 0.8);
      const colour = value < 0 ? AGAINST : FOR;
      for (let c = 0; c < 3; c++) out.data[4 * k + c] = grey * (1 - strength) + colour[c] * strength;
      out.data[4 * k + 3] = 255;
    }
    return out;
  }

  drawLines(context, scale) {
    const stroke = (path, colour, width) => {
      context.strokeStyle = colour;
      context.lineWidth = width / scale;
      context.stroke(path);
    };
    context.lineCap = "square";
    stroke(this.outline, "rgb(10 14 20 / 70%)", 3);
    stroke(this.outline, "rgb(255 255 255 / 92%)", 1.2);
    const chosen = this.outlines.get(this.region);
    if (!chosen) return;
    stroke(chosen, "rgb(10 14 20)", 6);
    stroke(chosen, "#ffd34d", 3.2);
  }

  drawTags(scale, width, height) {
    this.tags.replaceChildren();
    const placed = [];
    this.answer.graphs.forEach((graph, number) => {
      const best = bestOf(this.answer, number);
      const score = this.label ? graph.scores[this.answer.label_names.indexOf(this.label)] : best.score;
      const found = isAbove(this.answer, this.label || best.label, score);
      const words = this.label ? signed(score) : found || this.strip ? best.label : "";
      const tag = make("span", `tag${found ? " found" : ""}${number === this.region ? " chosen" : ""}`);
      tag.textContent = this.strip ? `${words}${this.label ? "" : mark(this.truth, number, best)}` : `${number + 1} ${words}`.trim();
      this.tags.append(tag);
      place(tag, graph.at[0] * scale, this.strip ? height + 19 : graph.at[1] * scale, width, placed);
    });
    const lowest = Math.max(...placed.map((box) => box.bottom)); // below a strip there is room for all of them
    this.tags.parentElement.style.paddingBottom = this.strip ? `${Math.max(38, lowest - height + 6)}px` : "";
    if (!this.strip) for (const tag of this.tags.children) keepInside(tag, height);
  }

  // The canvas with the tags on it.
  asPicture() {
    const dense = this.canvas.width / this.canvas.clientWidth;
    const copy = make("canvas");
    const frame = this.tags.parentElement.getBoundingClientRect();
    copy.width = this.canvas.width;
    copy.height = Math.round(frame.height * dense);
    const context = copy.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(this.canvas, 0, 0);
    context.scale(dense, dense);
    for (const tag of this.tags.children) drawTag(context, tag, frame);
    return new Promise((resolve) => copy.toBlob(resolve, "image/png"));
  }

  regionAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const { width, height } = this.answer.picture;
    const x = Math.floor(((event.clientX - box.left) / box.width) * width);
    const y = Math.floor(((event.clientY - box.top) / box.height) * height);
    return this.regions[Math.min(y, height - 1) * width + Math.min(x, width - 1)];
  }
}

function mark(truth, number, best) {
  const words = verdict(truth, number, best);
  return words === ", right" ? " \u2713" : words && ` \u2717${words}`;
}

function keepInside(tag, height) {
  tag.style.top = `${Math.max(2, Math.min(tag.offsetTop, height - tag.offsetHeight - 2))}px`;
}

function drawTag(context, tag, frame) {
  const box = tag.getBoundingClientRect();
  const style = getComputedStyle(tag);
  context.fillStyle = style.backgroundColor;
  context.fillRect(box.left - frame.left, box.top - frame.top, box.width, box.height);
  context.fillStyle = style.color;
  context.font = style.font;
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.fillText(tag.textContent, box.left - frame.left + box.width / 2, box.top - frame.top + box.height / 2);
}

// Inside the picture, and below any tag that is in the way.
function place(tag, x, y, width, placed) {
  const w = tag.offsetWidth;
  const h = tag.offsetHeight;
  const left = Math.max(2, Math.min(x - w / 2, width - w - 2));
  let top = Math.max(2, y - h / 2);
  for (const other of placed) {
    const apart = left + w < other.left || left > other.right || top + h < other.top || top > other.bottom;
    if (!apart) top = other.bottom + 2;
  }
  tag.style.left = `${left}px`;
  tag.style.top = `${top}px`;
  placed.push({ left, right: left + w, top, bottom: top + h });
}
