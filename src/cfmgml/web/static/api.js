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

// The answer for an input; with a level ("bag", "graph", "node") instead the table of predictions, as a file.
async function post(address, type, body, query, signal) {
  const headers = { "Content-Type": type };
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  const response = await ask(`${address}?${given}`, { method: "POST", headers, body, signal });
  return query.table ? response.blob() : response.json();
}

export async function askImage(model, blob, regions, signal, table) {
  return post(`${ROOT}/${model.name}/image`, "application/octet-stream", blob, { regions, table }, signal);
}

export async function askFile(model, blob, signal, table) {
  return post(`${ROOT}/${model.name}/file`, "application/octet-stream", blob, { table }, signal);
}

export function graphsAddress(model) {
  return `${ROOT}/${model.name}/graphs`;
}

export async function askGraphs(model, json, signal, table) {
  return post(graphsAddress(model), "application/json", json, { table }, signal);
}

export async function askText(model, text, signal, table) {
  return post(`${ROOT}/${model.name}/text`, "application/json", JSON.stringify({ text }), { table }, signal);
}
