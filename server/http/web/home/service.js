// The service: questions, uploads and events, with the key; and each as a curl line.

// A proxy may serve the page below a path of its own: every address is relative to the page.
const base = new URL("./", location.href).href;

export function addressOf(path) {
  return base + path.slice(1);
}

const place = "apspd-key";
let key = sessionStorage.getItem(place) ?? "";

// "told": a request was made that the reader may want to repeat (detail: its curl line).
// "locked": the service needs a key, or another one. "unlocked": one was given. "asked": the reader
// wants to give one. "gone" and "back": the service stops answering, and answers again. "changed":
// a job began or ended, so graphs may have come or changed.
export const bus = new EventTarget();

export function tell(name, detail) {
  bus.dispatchEvent(new CustomEvent(name, { detail }));
}

// Until another key is given, or an answer comes, nothing is asked but what the reader wants.
let locked = false;

export function isLocked() {
  return locked;
}

function lock() {
  locked = true;
  tell("locked");
}

export function hasKey() {
  return key !== "";
}

export function useKey(given) {
  key = given.trim();
  locked = false;
  if (key === "") {
    sessionStorage.removeItem(place);
  } else {
    sessionStorage.setItem(place, key);
  }
  tell("unlocked");
}

// While the service does not answer, only what the reader wants is asked, and whether it is back.
let gone = false;

export function isGone() {
  return gone;
}

function setGone(now) {
  if (gone === now) return;
  gone = now;
  tell(now ? "gone" : "back");
}

export class Refusal extends Error {
  constructor(document) {
    super(document.detail ?? document.title);
    this.document = document;
  }
}

function unreachable() {
  return new Refusal({
    title: "No answer",
    code: "NoAnswer",
    detail: "The service did not answer.",
    hint: "Is it running? The connection also breaks when the service refuses a graph while it is being uploaded.",
  });
}

/* ---- curl ---- */

function quote(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function curl(path, { method = "GET", json, file, headers = {}, output } = {}) {
  const words = ["curl"];
  if (hasKey()) words.push('-H "Authorization: Bearer $APSPD_KEY"');
  for (const [name, value] of Object.entries(headers)) words.push("-H", quote(`${name}: ${value}`));
  if (json !== undefined) words.push("--json", quote(JSON.stringify(json)));
  if (file !== undefined) words.push("--data-binary", quote(`@${file}`));
  if (method === "DELETE" || method === "PATCH" || method === "PUT") words.push(`-X ${method}`);
  if (output !== undefined) words.push("-o", quote(output));
  words.push(quote(addressOf(path)));
  return words.join(" ");
}

/* ---- Questions ---- */

function authorize(headers) {
  return hasKey() ? { ...headers, Authorization: `Bearer ${key}` } : headers;
}

async function refusalOf(response) {
  const type = response.headers.get("Content-Type") ?? "";
  if (response.status === 401) lock();
  if (type.includes("json")) return new Refusal(await response.json());
  return new Refusal({ title: `Status ${response.status}`, detail: response.statusText });
}

export async function fetchFrom(path, { method = "GET", json, headers = {}, signal, told = false } = {}) {
  const body = json === undefined ? undefined : JSON.stringify(json);
  if (told) tell("told", curl(path, { method, json, headers }));
  let response;
  try {
    response = await fetch(addressOf(path), {
      method,
      body,
      signal,
      headers: authorize(body === undefined ? headers : { ...headers, "Content-Type": "application/json" }),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    setGone(true);
    throw unreachable();
  }
  setGone(false);
  if (!response.ok) throw await refusalOf(response);
  locked &&= path === "/version"; // which needs no key
  return response;
}

export async function ask(path, options) {
  const response = await fetchFrom(path, options);
  return response.status === 204 ? null : response.json();
}

export function query(path, parameters) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") search.set(name, value);
  }
  const text = search.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
  return text === "" ? path : `${path}?${text}`;
}

export function pathOf(graph, rest = "") {
  return `/v1/graphs/${encodeURIComponent(graph)}${rest}`;
}

/* ---- Uploads ---- */

// The service's answer. fetch cannot say how much of a body has been sent, XMLHttpRequest can.
export function upload(path, body, { method = "POST", headers }, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, addressOf(path));
    for (const [name, value] of Object.entries(authorize(headers))) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => onProgress(event.loaded, event.total));
    // A refusal in the middle of a body may be lost with its connection; for want of a key a short
    // question is refused too.
    request.addEventListener("error", () => ask("/v1/limits").then(() => reject(unreachable()), reject));
    request.addEventListener("abort", () => reject(new DOMException("given up", "AbortError")));
    request.addEventListener("load", () => {
      if (request.status === 401) lock();
      let document;
      try {
        document = JSON.parse(request.responseText);
      } catch {
        reject(unreachable());
        return;
      }
      if (request.status < 300) resolve(document);
      else reject(new Refusal(document));
    });
    signal.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

/* ---- Events ---- */

function readEvent(block) {
  const event = { name: "message", data: "", id: undefined };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (line.startsWith("event:")) event.name = value;
    else if (line.startsWith("data:")) event.data += value;
    else if (line.startsWith("id:")) event.id = value;
  }
  return event;
}

async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    yield* blocks.map(readEvent).filter((event) => event.data !== "");
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

// Seconds of the solve itself, without the wait for it.
export function spent(timings) {
  return timings.fill_s + timings.h2d_s + timings.compute_s + timings.d2h_s + timings.write_s;
}

const ended = new Set(["done", "failed", "cancelled"]);

export function isOver(job) {
  return ended.has(job.state);
}

// Tells of a job until it has ended; after a break the stream goes on behind the last event seen.
// EventSource would do that, but sends no key.
export async function watch(id, onJob, signal) {
  let seen = "0";
  let delay = 500;
  while (!signal.aborted) {
    try {
      const response = await fetchFrom(`/v1/jobs/${id}/events`, { headers: { "Last-Event-ID": seen }, signal });
      if (response.status === 204) return;
      for await (const event of eventsOf(response)) {
        delay = 500;
        seen = event.id ?? seen;
        const job = JSON.parse(event.data);
        onJob(job);
        if (isOver(job)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal && error.document.status === 404) throw error;
    }
    await pause(delay, signal);
    delay = Math.min(delay * 2, 10000);
  }
}
