"""What people do on the page, for tests that drive a browser."""

import base64
import time

from browsers import is_firefox

SLOW_FETCH = """
window.slow = {};  // milliseconds that answers of an address come late, though nobody waits for them any more
window.late = 0;  // such answers that have come
window.busy = 0;  // questions that are refused
const real = window.fetch;
window.fetch = async (url, options = {}) => {
  if (busy > 0 && options.method === "POST") {
    busy -= 1;
    return new Response('{"error": "busy", "reason": "busy"}', { status: 503, headers: { "Retry-After": "1" } });
  }
  const part = Object.keys(slow).find((part) => String(url).includes(part));
  if (!part) return real(url, options);
  const answer = await real(url, { ...options, signal: undefined });
  await new Promise((resolve) => setTimeout(resolve, slow[part]));
  setTimeout(() => (late += 1), 500);  // the page has had time to do something with it
  return answer;
};
"""


PATIENCE = 120_000  # milliseconds


def choose_file(page, name, data, kind="image/png"):
    choose_files(page, {name: data}, kind)


def choose_files(page, files, kind="image/png"):
    page.locator("#file").set_input_files(
        [{"name": name, "mimeType": kind, "buffer": data} for name, data in files.items()]
    )


def drop_files(page, files):
    """Files by name, dropped on the page."""
    page.evaluate(
        """files => {
          const carried = new DataTransfer();
          for (const [name, data] of Object.entries(files)) {
            carried.items.add(new File([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], name));
          }
          for (const type of ["dragover", "drop"]) {
            const event = new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true });
            if (document.body.dispatchEvent(event)) throw new Error(`${type} is left to the browser`);
          }
        }""",
        {name: base64.b64encode(data).decode() for name, data in files.items()},
    )


def downloaded(page, button, folder):
    """The file that a press on a button downloads; in Firefox, which tells Playwright of none, what is saved."""
    if is_firefox(page):
        data, name = page.evaluate(CATCH_DOWNLOAD, button)
        (folder / name).write_bytes(base64.b64decode(data))
        return folder / name
    with page.expect_download() as event:
        page.locator(button).click()
    path = folder / event.value.suggested_filename
    event.value.save_as(path)
    return path


CATCH_DOWNLOAD = """button => new Promise((resolve) => {
  const make = URL.createObjectURL;
  const press = HTMLAnchorElement.prototype.click;
  let saved;
  URL.createObjectURL = (blob) => make.call(URL, (saved = blob));
  HTMLAnchorElement.prototype.click = function () {
    [URL.createObjectURL, HTMLAnchorElement.prototype.click] = [make, press];
    const reader = new FileReader();
    reader.onload = () => resolve([reader.result.split(",")[1], this.download]);
    reader.readAsDataURL(saved);
  };
  document.querySelector(button).click();
})"""


def expect(what):
    """Playwright's, where there is one: a test that has a page has one. It is patient: machines may be busy."""
    from playwright import sync_api

    sync_api.expect.set_options(timeout=PATIENCE)
    return sync_api.expect(what)


def wait_for_answer(page, text):
    expect(page.locator("#status")).to_contain_text(text)


def wait_until(page, expression, seconds=120):
    """Until an expression is true there; Playwright's own way is stopped by the page's policy on scripts."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(50)
