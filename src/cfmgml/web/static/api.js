// Asking the server. Whatever goes wrong becomes an Error whose message can be shown to people.

const ROOT = "/api/v1/models";

async function checked(response) {
  if (response.ok) return response;
  let reason = `The server answered ${response.status}.`;
  try {
    reason = (await response.json()).reason || reason;
  } catch {
    // not JSON: the status must do
  }
  throw new Error(reason);
}

async function ask(url, options) {
  try {
    return await checked(await fetch(url, options));
  } catch (error) {
    if (error instanceof TypeError) throw new Error("The server cannot be reached. Is it still running?");
    throw error;
  }
}

export async function loadCatalogue() {
  return (await ask(ROOT)).json();
}

export function sampleAddress(model, sample) {
  return `${ROOT}/${model.name}/samples/${sample.id}`;
}

export async function loadSample(model, sample) {
  return ask(sampleAddress(model, sample));
}

export async function askImage(model, blob, regions, signal) {
  const query = regions ? `?regions=${regions}` : "";
  const headers = { "Content-Type": "application/octet-stream" };
  return (await ask(`${ROOT}/${model.name}/image${query}`, { method: "POST", headers, body: blob, signal })).json();
}

export async function askFile(model, blob, signal) {
  const headers = { "Content-Type": "application/octet-stream" };
  return (await ask(`${ROOT}/${model.name}/file`, { method: "POST", headers, body: blob, signal })).json();
}

export function graphsAddress(model) {
  return `${ROOT}/${model.name}/graphs`;
}

export async function askGraphs(model, json, signal) {
  const headers = { "Content-Type": "application/json" };
  return (await ask(graphsAddress(model), { method: "POST", headers, body: json, signal })).json();
}

export async function askText(model, text, signal) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ text });
  return (await ask(`${ROOT}/${model.name}/text`, { method: "POST", headers, body, signal })).json();
}
