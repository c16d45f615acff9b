// What is shown, in the page's address: a reload, a bookmark and the back button find it again. Of what people send
// nothing is in it.

const NAMES = ["model", "sample", "regions", "label"];

export function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(NAMES.map((name) => [name, given.get(name)]));
}

export function writeAddress(state, isNewPage = false) {
  const given = new URLSearchParams();
  for (const name of NAMES) if (state[name] !== null && state[name] !== undefined) given.set(name, state[name]);
  const address = `#${given}`;
  if (address === location.hash) return;
  if (isNewPage && location.hash) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
