// The page: takes an input, asks the server, and keeps picture, lists and legend in step.

import { askFile, askGraphs, askImage, askText, graphsAddress, loadCatalogue, loadSample, sampleAddress } from "./api.js";
import { fillGraphs, fillLabels } from "./lists.js";
import { PictureView } from "./picture.js";
import { TextView } from "./reading.js";
import { contributionsTo, counted, listed, make, signed } from "./words.js";

const at = (id) => document.getElementById(id);
const GRAPHS = '{"graphs": [\n  {"node_labels": ["C", "N", "C"], "edges": [[0, 1], [1, 2]]}\n]}';
const IMAGES = "image/png,image/jpeg,image/webp,image/bmp,image/gif";
const PAUSE = 180; // milliseconds that the slider rests before the server is asked

const page = { catalogue: null, model: null, answer: null, label: null, graph: null, showAll: false, input: null };
let asking = null;
let pause = 0;

const picture = new PictureView(at("picture"), at("canvas"), at("tags"), (region) => {
  if (region >= 0) chooseGraph(region);
});
const reading = new TextView(at("reading"));

// -- asking ---------------------------------------------------------------------------------

async function submit(input) {
  if (asking) asking.abort();
  const mine = (asking = new AbortController());
  page.input = input;
  fail("");
  say("Reading …");
  document.body.classList.add("busy");
  at("result").setAttribute("aria-busy", "true");
  try {
    checkSize(input);
    const [answer, bitmap] = await Promise.all([question(input, mine.signal), bitmapOf(input)]);
    if (mine === asking) show(answer, bitmap);
  } catch (error) {
    if (mine === asking && error.name !== "AbortError") {
      say("");
      fail(error.message);
    }
  } finally {
    if (mine === asking) {
      document.body.classList.remove("busy");
      at("result").removeAttribute("aria-busy");
    }
  }
}

function question(input, signal, table) {
  const { route } = page.model;
  if (route === "graphs") return askGraphs(page.model, input.text, signal, table);
  if (route === "text") return askText(page.model, input.text, signal, table);
  if (route === "file") return askFile(page.model, input.blob, signal, table);
  return askImage(page.model, input.blob, page.model.regions ? Number(at("regions").value) : null, signal, table);
}

// The table that `cfmgml predict` writes, as a file of the person's own.
async function download(level) {
  try {
    const link = make("a");
    link.href = URL.createObjectURL(await question(page.input, undefined, level));
    link.download = `${page.model.name}-${level}s.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  } catch (error) {
    fail(error.message);
  }
}

function checkSize(input) {
  const { body_bytes: mostBytes, characters } = page.catalogue.limits;
  if (input.blob && input.blob.size > mostBytes) {
    throw new Error(`The file has ${(input.blob.size / 2 ** 20).toFixed(1)} MiB; ${mostBytes / 2 ** 20} MiB are the most.`);
  }
  if (input.text !== undefined && page.model.route === "text" && input.text.length > 2 * characters) {
    throw new Error(`The text has ${input.text.length} characters; ${characters} are the most.`);
  }
}

async function bitmapOf(input) {
  if (!input.blob || page.model.route !== "image") return null;
  return createImageBitmap(input.blob).catch(() => null); // the server says what is wrong with it
}

// -- showing --------------------------------------------------------------------------------

function show(answer, bitmap) {
  Object.assign(page, { answer, label: null, graph: null, showAll: false });
  at("empty").hidden = true;
  at("label-panel").hidden = at("graph-panel").hidden = false;
  if (answer.picture) {
    reading.clear();
    picture.show(bitmap, answer, page.model.plain);
  } else {
    picture.clear();
    reading.show(answer);
  }
  at("threshold").textContent = String(answer.threshold);
  const found = answer.labels.filter((label) => label.predicted).map((label) => label.name);
  const parts = counted(answer.graphs.length, page.model.part);
  say(`${found.length ? `Found ${listed(found)}` : "No label is above the threshold"}; ${parts}.`);
  at("canvas").setAttribute("aria-label", `${page.input.title || "The image"} with ${parts} outlined`);
  refresh();
}

function refresh() {
  const { answer, label, graph } = page;
  const more = fillLabels(at("labels"), answer, page.showAll, label, chooseLabel);
  at("more").hidden = more === 0;
  at("more").textContent = page.showAll ? "Show fewer" : `Show ${counted(more, "more label")}`;
  const parts = `${page.model.part.charAt(0).toUpperCase()}${page.model.part.slice(1)}s`;
  at("graphs-title").textContent = at("table-graph").textContent = parts;
  at("table-node").hidden = !page.model.explains;
  fillGraphs(at("graphs"), answer, label, graph, chooseGraph);
  if (answer.picture) picture.choose(label, graph);
  else reading.choose(label, graph);
  refreshLegend();
}

function refreshLegend() {
  const heat = page.label && contributionsTo(page.answer, page.label);
  at("legend").hidden = !heat;
  if (!heat) return;
  at("legend-title").textContent = `What speaks for ${page.label}`;
  at("legend-low").textContent = `against ${signed(-heat.largest)}`;
  at("legend-high").textContent = `for ${signed(heat.largest)}`;
}

function keepFocus(change) {
  const list = document.activeElement && document.activeElement.closest("ol");
  const place = list ? Array.from(list.querySelectorAll("button")).indexOf(document.activeElement) : -1;
  change();
  if (place >= 0) list.querySelectorAll("button")[place].focus();
}

function chooseLabel(name) {
  page.label = page.label === name ? null : name;
  keepFocus(refresh);
  say(page.label ? `Showing what speaks for ${name}.` : "Showing all parts.");
}

function chooseGraph(number) {
  page.graph = page.graph === number ? null : number;
  keepFocus(refresh);
}

function say(words) {
  at("status").textContent = words;
}

function fail(words) {
  at("error").hidden = !words;
  at("error").textContent = words;
}

// -- models and samples ---------------------------------------------------------------------

function chooseModel(model) {
  Object.assign(page, { model, answer: null });
  at("title").textContent = page.catalogue.models.length > 1 ? model.title : model.title || "What the model sees";
  at("about").textContent = model.about || `A model of ${counted(model.labels.length, "label")}: ${someOf(model.labels)}.`;
  at("image-input").hidden = isWritten(model);
  at("text-input").hidden = !isWritten(model);
  const asGraphs = model.route === "graphs";
  at("text-title").textContent = model.input;
  at("file-title").textContent = model.route === "image" ? "Choose an image" : "Choose a file";
  at("file").accept = model.route === "image" ? IMAGES : "";
  at("text").placeholder = asGraphs ? GRAPHS : "";
  at("text").value = "";
  at("graphs-hint").hidden = !asGraphs;
  at("graphs-address").textContent = `POST ${graphsAddress(model)}`;
  at("controls").hidden = model.regions === null;
  at("regions").max = String(page.catalogue.limits.regions);
  setRegions(model.regions || 1);
  at("empty").hidden = false;
  at("label-panel").hidden = at("graph-panel").hidden = at("legend").hidden = true;
  picture.clear();
  reading.clear();
  fail("");
  say("");
  fillSamples(model);
  if (model.samples.length) openSample(model, model.samples[0]);
}

function isWritten(model) {
  return model.route === "text" || model.route === "graphs";
}

function someOf(names) {
  return names.length > 12 ? `${names.slice(0, 12).join(", ")}, …` : names.join(", ");
}

function setRegions(number) {
  at("regions").value = String(number);
  at("regions-value").textContent = String(number);
}

function fillSamples(model) {
  at("samples").replaceChildren(
    ...model.samples.map((sample) => {
      const button = make("button", "sample");
      button.type = "button";
      button.dataset.sample = sample.id;
      if (sample.media_type.startsWith("image/")) {
        const image = make("img");
        image.src = sampleAddress(model, sample);
        image.alt = `Sample: ${sample.title}`;
        button.append(image);
      } else {
        button.classList.add("words");
        button.textContent = sample.title;
      }
      button.addEventListener("click", () => openSample(model, sample));
      return button;
    }),
  );
}

function pressSample(number) {
  for (const button of at("samples").children) button.setAttribute("aria-pressed", String(button.dataset.sample === String(number)));
}

async function openSample(model, sample) {
  pressSample(sample.id);
  try {
    const response = await loadSample(model, sample);
    if (page.model !== model) return;
    if (isWritten(model)) {
      at("text").value = await response.text();
      submit({ text: at("text").value });
    } else {
      submit({ blob: await response.blob(), title: `Sample ${sample.title}` });
    }
  } catch (error) {
    fail(error.message);
  }
}

function openFile(file) {
  pressSample(null);
  submit({ blob: file, title: "Your image" });
}

function fillModels(models) {
  at("models").hidden = models.length < 2;
  for (const model of models) {
    const label = make("label");
    const input = make("input");
    Object.assign(input, { type: "radio", name: "model", value: model.name, checked: model === models[0] });
    input.addEventListener("change", () => chooseModel(model));
    label.append(input, make("span", "", model.title));
    at("models").append(label);
  }
}

// -- events ---------------------------------------------------------------------------------

at("file").addEventListener("change", () => {
  if (at("file").files.length) openFile(at("file").files[0]);
  at("file").value = "";
});
at("text-input").addEventListener("submit", (event) => {
  event.preventDefault();
  pressSample(null);
  submit({ text: at("text").value });
});
at("regions").addEventListener("input", () => {
  setRegions(Number(at("regions").value));
  clearTimeout(pause);
  if (page.input && page.input.blob) pause = setTimeout(() => submit(page.input), PAUSE);
});
for (const level of ["bag", "graph", "node"]) at(`table-${level}`).addEventListener("click", () => download(level));
at("more").addEventListener("click", () => {
  page.showAll = !page.showAll;
  refresh();
});

const carriesFile = (event) => page.model && !isWritten(page.model) && event.dataTransfer?.types.includes("Files");
window.addEventListener("dragover", (event) => {
  if (!carriesFile(event)) return;
  event.preventDefault();
  document.body.classList.add("over");
});
window.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("over");
});
window.addEventListener("drop", (event) => {
  document.body.classList.remove("over");
  if (!carriesFile(event)) return;
  event.preventDefault();
  if (event.dataTransfer.files.length) openFile(event.dataTransfer.files[0]);
});
window.addEventListener("paste", (event) => {
  const file = event.clipboardData && event.clipboardData.files[0];
  if (file && page.model && !isWritten(page.model)) openFile(file);
});

try {
  page.catalogue = await loadCatalogue();
  fillModels(page.catalogue.models);
  chooseModel(page.catalogue.models[0]);
} catch (error) {
  fail(error.message);
}
