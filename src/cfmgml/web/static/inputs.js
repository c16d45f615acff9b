// What people give: files that they choose, drop or paste, a text, a sample.

import { sampleAddress } from "./api.js";
import { at, make } from "./words.js";

const IMAGES = "image/png,image/jpeg,image/webp,image/bmp,image/gif";
const GRAPHS = '{"graphs": [\n  {"node_labels": ["C", "N", "C"], "edges": [[0, 1], [1, 2]]}\n]}';
const TEXT = "Paste or type it here, or drop a text file on the page.";

export function isWritten(model) {
  return model.route === "text" || model.route === "graphs";
}

// `onFiles` is given a list of files, `onText` a text; both only when a model is there.
export function listen(onFiles, onText) {
  at("file").addEventListener("change", () => {
    const files = Array.from(at("file").files);
    at("file").value = "";
    if (files.length) onFiles(files);
  });
  at("text-input").addEventListener("submit", (event) => {
    event.preventDefault();
    onText(at("text").value);
  });
  at("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("text-input").requestSubmit();
  });
  listenForDrops(onFiles);
  window.addEventListener("paste", (event) => {
    const files = Array.from(event.clipboardData?.files || []);
    if (files.length) onFiles(files);
  });
}

// On any page: a browser that is not stopped leaves it and opens the file instead.
function listenForDrops(onFiles) {
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
  window.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    document.body.classList.add("over");
  });
  window.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("over");
  });
  window.addEventListener("drop", (event) => {
    document.body.classList.remove("over");
    if (!carriesFiles(event)) return;
    event.preventDefault();
    const files = Array.from(event.dataTransfer.files);
    if (files.length) onFiles(files);
  });
}

export function showForm(model) {
  const asGraphs = model.route === "graphs";
  at("image-input").hidden = isWritten(model);
  at("text-input").hidden = !isWritten(model);
  at("text-title").textContent = model.input;
  at("file-title").textContent = model.route === "image" ? "Choose images" : "Choose files";
  at("file").accept = model.route === "image" ? IMAGES : "";
  at("text").placeholder = asGraphs ? GRAPHS : TEXT;
  at("text").value = "";
  at("graphs-hint").hidden = !asGraphs;
  at("graphs-address").textContent = `POST /api/v1/models/${model.name}/graphs`;
}

export function fillSamples(model, onSample) {
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
      button.addEventListener("click", () => onSample(sample));
      return button;
    }),
  );
}

export function pressSample(id) {
  for (const button of at("samples").children) button.setAttribute("aria-pressed", String(button.dataset.sample === String(id)));
}
