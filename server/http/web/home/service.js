// All requests to the service: questions, uploads and events. Sends the key, and gives each request as a curl line.

// A proxy may serve the page below a path of its own: every address is relative to the page.
const base = new URL("./", location.href).href;

export function addressOf(path) {
  return base + path.slice(1);
}

const place = "apspd-key";
let key = sessionStorage.getItem(place) ?? "";

// The events that this module dispatches:
// "told": a request was made that the user may want to repeat (detail: its curl line).
// "locked": the service refuses the key or needs one. "unlocked": a key was entered. "asked": the user wants to
// enter one. "gone" and "back": the service stopped answering, or answers again. "changed": a job began or
// ended, so that the list of graphs may be out of date.
export const bus = new EventTarget();

export function tell(name, detail) {
  bus.dispatchEvent(new CustomEvent(name, { detail }));
}

// After a refusal of the key, background requests stop until another key is entered or a request succeeds.
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

// While the service does not answer, the page sends only the user's own requests and a regular probe.
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
    title: "No response",
    code: "NoAnswer",
    detail: "The service did not respond.",
    hint: "Is the service running? The connection also breaks when the service refuses a graph while it is being uploaded.",
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

// Sends a body and returns the answer. Uses XMLHttpRequest, as fetch does not report how much has been sent.
export function upload(path, body, { method = "POST", headers }, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, addressOf(path));
    for (const [name, value] of Object.entries(authorize(headers))) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => onProgress(event.loaded, event.total));
    // A refusal that arrives while the body is being sent may be lost with the connection. A short request finds
    // out whether the key is the reason: without a valid key it is refused as well.
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

// Returns the seconds that the solve took, without its time in the queue.
export function spent(timings) {
  return timings.fill_s + timings.h2d_s + timings.compute_s + timings.d2h_s + timings.write_s;
}

const ended = new Set(["done", "failed", "cancelled"]);

export function isOver(job) {
  return ended.has(job.state);
}

// Reports the events of a job until it has ended. After a lost connection the stream continues behind the last
// event received. EventSource does the same, but cannot send a key.
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
