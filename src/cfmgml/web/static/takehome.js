// What people take home: the answer as JSON, CSV, a picture or a mask, and the question as a command.

import { ask, requestFor } from "./api.js";
import { maskOf } from "./painting.js";
import { at, fail, make, say } from "./words.js";

export function save(blob, name) {
  const link = make("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// `shown` gives what is on the page now: model, input, regions, and the view with its answer.
export function offer(shown) {
  const onPress = (id, work) =>
    at(id).addEventListener("click", async () => {
      try {
        await work(shown());
      } catch (error) {
        fail(error.message);
      }
    });
  for (const table of ["bag", "graph", "node"]) {
    onPress(`table-${table}`, async ({ model, input, regions }) => {
      save(await ask(model, input, { regions, table }), `${model.name}-${table}s.csv`);
    });
  }
  onPress("as-json", ({ model, view }) => {
    save(new Blob([JSON.stringify(view.answer, null, 1)], { type: "application/json" }), `${model.name}.json`);
  });
  onPress("as-picture", async ({ model, view }) => save(await view.asPicture(), `${model.name}.png`));
  onPress("as-mask", async ({ model, view }) => save(await maskOf(view.answer, view.picture.nodes), `${model.name}-mask.png`));
  onPress("as-command", async ({ model, input, regions }) => {
    at("command").textContent = commandFor(model, input, regions);
    at("command").hidden = false;
    await navigator.clipboard?.writeText(at("command").textContent); // only there where the page is safe from others
    say(navigator.clipboard ? "The command is on the clipboard." : "Copy the command below.");
  });
}

export function refreshOffers(model, answer) {
  at("table-node").hidden = !model.explains;
  at("as-picture").hidden = !answer.picture && !answer.networks && !answer.drawing;
  at("as-mask").hidden = !answer.painting || model.plain;
  at("command").hidden = true;
}

// The same question for a shell: a file is named, a sample fetched, and what was typed stands in quotation marks.
export function commandFor(model, input, regions) {
  const { address, type, body } = requestFor(model, input, { regions });
  const data = input.blob ? `@${input.file || (input.from ? "-" : "FILE")}` : body;
  const before = input.blob && input.from ? `curl -sS ${quoted(`${location.origin}${input.from}`)} | ` : "";
  return `${before}curl --data-binary ${quoted(data)} -H ${quoted(`Content-Type: ${type}`)} ${quoted(`${location.origin}${address}`)}`;
}

function quoted(words) {
  return `'${words.replaceAll("'", "'\\''")}'`;
}
