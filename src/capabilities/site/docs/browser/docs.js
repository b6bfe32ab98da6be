// Pages of the documentation: sends the call of the form, and puts the user's key and language into the samples.
const KEY_ITEM = "parallax-key";
const LANGUAGE_ITEM = "parallax-language";
const UNKNOWN_ORIGIN = "https://YOUR_HOST";
const BYTES_MAX = 256 * 1024;
const TIMEOUT_MS = 30_000;

function read(storage, name) {
  try {
    return storage()?.getItem(name) ?? null;
  } catch {
    return null;
  }
}

function write(storage, name, value) {
  try {
    storage()?.setItem(name, value);
  } catch {
    // Storage is disabled: the value lasts as long as the page.
  }
}

const session = () => window.sessionStorage;
const local = () => window.localStorage;

/** Replaces a text in all samples. */
function replaceInSamples(from, to) {
  if (from === to || from === "") return;
  for (const code of document.querySelectorAll("main pre code")) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) walker.currentNode.data = walker.currentNode.data.replaceAll(from, to);
  }
}

let shownKey = document.querySelector("[data-sample-key]")?.dataset.sampleKey ?? "";

function showKey(key) {
  replaceInSamples(shownKey, key);
  shownKey = key;
}

function selectLanguage(language) {
  for (const radio of document.querySelectorAll(".tabs input")) if (radio.value === language) radio.checked = true;
}

for (const radio of document.querySelectorAll(".tabs input"))
  radio.addEventListener("change", () => {
    write(local, LANGUAGE_ITEM, radio.value);
    selectLanguage(radio.value);
  });

/** Builds the URL of the call from the fields of the form. */
function buildUrl(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll("[data-in]")) {
    if (field.dataset.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (field.value !== "") query.set(field.name, field.value);
  }
  const search = query.toString();
  return search === "" ? path : `${path}?${search}`;
}

/** Reads at most BYTES_MAX bytes of the body. */
async function readBody(response) {
  const reader = response.body?.getReader();
  const chunks = [];
  let bytes = 0;
  while (reader !== undefined && bytes < BYTES_MAX) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    bytes += value.length;
  }
  const isCut = bytes >= BYTES_MAX;
  if (isCut) await reader.cancel();
  return { text: await new Blob(chunks).slice(0, BYTES_MAX).text(), isCut };
}

function format(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function send(form, signal) {
  const key = form.querySelector("[data-key]")?.value.trim();
  const body = form.querySelector("[data-body]")?.value;
  const headers = {};
  if (key) headers.authorization = `Bearer ${key}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const start = performance.now();
  const response = await fetch(buildUrl(form), {
    method: form.dataset.run,
    headers,
    body,
    signal,
    credentials: "omit",
    cache: "no-store",
  });
  const { text, isCut } = await readBody(response);
  const facts = [`${response.status} ${response.statusText}`, `${Math.round(performance.now() - start)} ms`];
  for (const name of ["ratelimit", "retry-after"]) {
    const value = response.headers.get(name);
    if (value !== null) facts.push(`${name}: ${value}`);
  }
  if (isCut) facts.push(`only the first ${BYTES_MAX / 1024} KiB are shown`);
  return { facts: facts.join(" · "), text: isCut ? text : format(text) };
}

function prepare(form) {
  const button = form.querySelector("[data-send]");
  const cancel = form.querySelector("[data-cancel]");
  const status = form.querySelector("[data-status]");
  const output = form.querySelector("[data-output]");
  let controller = null;
  button.disabled = false;
  cancel.addEventListener("click", () => controller?.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (controller !== null) return;
    controller = new AbortController();
    cancel.hidden = false;
    status.textContent = "Running …";
    try {
      const result = await send(form, AbortSignal.any([controller.signal, AbortSignal.timeout(TIMEOUT_MS)]));
      status.textContent = result.facts;
      output.firstElementChild.textContent = result.text;
      output.hidden = false;
    } catch (error) {
      const reasons = { AbortError: "Cancelled.", TimeoutError: `No response within ${TIMEOUT_MS / 1000} s.` };
      status.textContent = reasons[error.name] ?? "The request failed: the server cannot be reached.";
    } finally {
      controller = null;
      cancel.hidden = true;
    }
  });
}

const keyField = document.querySelector("[data-key]");
const storedKey = read(session, KEY_ITEM);
replaceInSamples(UNKNOWN_ORIGIN, window.location.origin);
selectLanguage(read(local, LANGUAGE_ITEM));
if (storedKey !== null) {
  showKey(storedKey);
  if (keyField !== null) keyField.value = storedKey;
}
keyField?.addEventListener("change", () => {
  const key = keyField.value.trim();
  if (key === "") return;
  write(session, KEY_ITEM, key);
  showKey(key);
});
for (const form of document.querySelectorAll("form[data-run]")) prepare(form);
