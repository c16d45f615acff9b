// The page: which model and which input it is about, what is asked of the server, and what of it is in the address.

import { readAddress, writeAddress } from "./address.js";
import { ask, loadCatalogue, loadSample, sampleAddress } from "./api.js";
import { Corrections } from "./corrections.js";
import { Current, patiently } from "./current.js";
import { Gallery } from "./gallery.js";
import { fillSamples, isWritten, listen, pressSample, showForm } from "./inputs.js";
import { offer } from "./takehome.js";
import { AnswerView } from "./view.js";
import { at, counted, fail, make, say } from "./words.js";

// The question: how its input is found, the sample that it is, and, once it is answered, the input itself.
const page = { catalogue: null, model: null, question: null, nAsked: 0 };
const view = new AnswerView(noteAddress, drawFor);
const gallery = new Gallery((file) => openFile(file));
const corrections = new Corrections(shown);
const current = new Current((busy) => {
  document.body.classList.toggle("busy", busy);
  if (busy) at("result").setAttribute("aria-busy", "true");
  else at("result").removeAttribute("aria-busy");
});

// The files of a gallery are read beside the question that the page is about, which people may ask meanwhile.
const batch = new Current(() => {});

// What is on the page now, for whatever takes it home.
function shown() {
  return { model: page.model, input: page.question?.input, regions: regionsWanted(), view };
}

function regionsWanted() {
  return page.model.regions ? Number(at("regions").value) : null;
}

// -- asking ---------------------------------------------------------------------------------

// Ask about the input that `find` gives (text or blob, and a title), and show the answer.
async function submit(find, { sample = null, label = null } = {}) {
  const { model } = page;
  const regions = regionsWanted();
  page.question = { find, sample, input: null };
  page.nAsked += 1;
  pressSample(sample?.id);
  fail("");
  say("Reading …");
  try {
    const found = await current.ask(async (signal) => {
      const input = await find(signal);
      checkSize(model, input);
      const [answer, bitmap] = await Promise.all([ask(model, input, { regions }, signal), bitmapOf(model, input)]);
      return { input, answer, bitmap };
    });
    if (!found) return;
    const { input, answer, bitmap } = found;
    page.question = { find: async () => input, sample, input };
    view.show(model, answer, { bitmap, title: input.title, truth: sample?.truth, label });
    corrections.refresh();
  } catch (error) {
    page.question = null; // what cannot be read is not asked again, and no older answer stands beside the error
    view.clear();
    say("");
    fail(error.message);
  }
  noteAddress();
}

// The same input again, for its drawing about another label.
async function drawFor(drawn) {
  return (await ask(page.model, page.question.input, { drawn })).drawing;
}

function checkSize(model, input) {
  const { characters } = page.catalogue.limits;
  if (input.blob) checkBytes(input.blob);
  if (input.text !== undefined && model.route === "text" && input.text.length > 2 * characters) {
    throw new Error(`The text has ${input.text.length} characters; ${characters} are the most.`);
  }
}

function checkBytes({ size }) {
  const most = page.catalogue.limits.body_bytes;
  if (size > most) throw new Error(`The file has ${(size / 2 ** 20).toFixed(1)} MiB; ${most / 2 ** 20} MiB are the most.`);
}

async function bitmapOf(model, input) {
  if (!input.blob || model.route !== "image") return null;
  return createImageBitmap(input.blob).catch(() => null); // the server says what is wrong with it
}

function openSample(sample, label = null) {
  const { model } = page;
  const find = async (signal) => {
    const response = await loadSample(model, sample, signal);
    if (!isWritten(model)) return { blob: await response.blob(), title: `Sample ${sample.title}`, from: sampleAddress(model, sample) };
    const text = await response.text();
    if (!signal.aborted) at("text").value = text;
    return { text, title: `Sample ${sample.title}` };
  };
  submit(find, { sample, label });
}

async function readFile(model, file) {
  const given = { title: file.name || "Your file", file: file.name };
  if (!isWritten(model)) return { ...given, blob: file };
  checkBytes(file);
  try {
    return { ...given, text: new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()) };
  } catch {
    throw new Error(`${given.title} is no text in UTF-8.`);
  }
}

function openFile(file) {
  const { model } = page;
  submit(async (signal) => {
    const input = await readFile(model, file);
    checkSize(model, input);
    if (isWritten(model) && !signal.aborted) at("text").value = input.text;
    return input;
  });
}

// One is opened, several become a gallery, of which the first is opened when all are read and nothing else was asked.
async function openFiles(files) {
  const { model } = page;
  if (!model) return;
  batch.drop();
  gallery.clear();
  if (files.length === 1) return openFile(files[0]);
  current.drop();
  page.question = null;
  pressSample(null);
  view.clear();
  fail("");
  say(`Reading ${counted(files.length, "file")} …`);
  const { nAsked } = page;
  const regions = regionsWanted();
  const read = async (file, signal) => {
    const input = await readFile(model, file);
    checkSize(model, input);
    return patiently(() => ask(model, input, { regions }, signal), signal);
  };
  const first = await batch.ask((signal) => gallery.fill(model, files, read, signal));
  if (first && page.nAsked === nAsked) openFile(first);
}

function openText(text) {
  submit(async () => ({ text, title: "Your text" }));
}

// -- models ---------------------------------------------------------------------------------

function chooseModel(model, wanted = {}) {
  current.drop();
  batch.drop();
  Object.assign(page, { model, question: null });
  at("title").textContent = page.catalogue.models.length > 1 ? model.title : model.title || "What the model sees";
  at("about").textContent = model.about || `A model of ${counted(model.labels.length, "label")}: ${someOf(model.labels)}.`;
  showForm(model);
  at("controls").hidden = model.regions === null;
  at("regions").max = String(page.catalogue.limits.regions);
  setRegions(Number(wanted.regions) || model.regions || 1);
  view.clear();
  gallery.clear();
  fail("");
  say("");
  fillSamples(model, (sample) => openSample(sample));
  const sample = model.samples.find((one) => String(one.id) === wanted.sample) || model.samples[0];
  if (sample) openSample(sample, wanted.label);
  else noteAddress();
}

function someOf(names) {
  return names.length > 12 ? `${names.slice(0, 12).join(", ")}, …` : names.join(", ");
}

function setRegions(number) {
  at("regions").value = String(number);
  at("regions-value").textContent = at("regions").value;
}

function fillModels(models) {
  at("models").hidden = models.length < 2;
  for (const model of models) {
    const label = make("label");
    const input = make("input");
    Object.assign(input, { type: "radio", name: "model", value: model.name });
    input.addEventListener("change", () => {
      writeAddress({ model: model.name }, true);
      chooseModel(model);
    });
    label.append(input, make("span", "", model.title));
    at("models").append(label);
  }
}

// -- the address ----------------------------------------------------------------------------

function noteAddress() {
  const { model, question } = page;
  const regions = model.regions && Number(at("regions").value) !== model.regions ? at("regions").value : null;
  writeAddress({ model: model.name, sample: question?.sample?.id, regions, label: view.label });
}

function openAddress() {
  const wanted = readAddress();
  const { models } = page.catalogue;
  const model = models.find((one) => one.name === wanted.model) || models[0];
  for (const radio of document.getElementsByName("model")) radio.checked = radio.value === model.name;
  chooseModel(model, wanted);
}

// -- events ---------------------------------------------------------------------------------

listen(openFiles, openText);
offer(shown);
at("regions").addEventListener("input", () => {
  setRegions(Number(at("regions").value));
  const { question } = page;
  if (question) submit(question.find, { sample: question.sample, label: question.input && view.label });
});
window.addEventListener("popstate", openAddress);

try {
  page.catalogue = await loadCatalogue();
  fillModels(page.catalogue.models);
  openAddress();
} catch (error) {
  fail(error.message);
}
