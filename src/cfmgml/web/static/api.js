// Asking the server. Whatever goes wrong becomes an Error whose message can be shown to people.

const ROOT = "/api/v1/models";

async function checked(response) {
  if (response.ok) return response;
  const error = new Error(`The server answered ${response.status}.`);
  try {
    error.message = (await response.json()).reason || error.message;
  } catch {
    // not JSON: the status must do
  }
  if (response.status === 503) error.retryAfter = Number(response.headers.get("Retry-After")) || 1; // seconds
  throw error;
}

async function fetched(url, options) {
  try {
    return await checked(await fetch(url, options));
  } catch (error) {
    if (error instanceof TypeError) throw new Error("The server cannot be reached. Is it still running?");
    throw error;
  }
}

export async function loadCatalogue() {
  return (await fetched(ROOT)).json();
}

export function sampleAddress(model, sample) {
  return `${ROOT}/${model.name}/samples/${sample.id}`;
}

export async function loadSample(model, sample, signal) {
  return fetched(sampleAddress(model, sample), { signal });
}

// Where an input is sent to, as what type, and its body.
export function requestFor(model, input, query = {}) {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  const address = `${ROOT}/${model.name}/${model.route}${given.size ? `?${given}` : ""}`;
  if (model.route === "graphs") return { address, type: "application/json", body: input.text };
  if (model.route === "text") return { address, type: "application/json", body: JSON.stringify({ text: input.text }) };
  return { address, type: "application/octet-stream", body: input.blob };
}

// The answer for an input; with a level ("bag", "graph", "node") as table instead the table of predictions, as a file.
export async function ask(model, input, query, signal) {
  const { address, type, body } = requestFor(model, input, query);
  const response = await fetched(address, { method: "POST", headers: { "Content-Type": type }, body, signal });
  return query.table ? response.blob() : response.json();
}

// Inputs and their labels as a file of bags, for training; files travel as base64.
export async function askForBags(model, entries) {
  const inputs = await Promise.all(
    entries.map(async ({ name, input, labels, regions }) => ({
      name, labels, regions, content: input.blob ? await base64(input.blob) : input.text
    })),
  );
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ inputs });
  return (await fetched(`${ROOT}/${model.name}/bags`, { method: "POST", headers, body })).blob();
}

function base64(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result.slice(reader.result.indexOf(",") + 1)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(blob);
  });
}
