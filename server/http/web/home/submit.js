// Uploads a graph: a file that was dropped or chosen, or an example.

import { byId, make, bytes, percent, plural, say } from "./dom.js";
import { ask, bus, isGone, upload, query, tell, curl, pathOf, Refusal } from "./service.js";
import { guard } from "./problem.js";
import { examples } from "./graphs.js";

let formats = [];
let last = null; // what was sent, to be sent again
let sending = null;
const queue = []; // files that wait
const sent = new Map(); // by graph id: the file of the upload, and its options
let onJob = () => {};
let onPlaced = () => {};
let shownGraph = () => null;

function optionsOf(form) {
  const data = new FormData(form);
  return Object.fromEntries([...data].filter(([, value]) => typeof value === "string" && value !== ""));
}

// Derives name, format and compression from the name of a file: town.gr.gz is the graph "town" as DIMACS in gzip.
// For .txt the format is left to the service, which looks at the first bytes.
function understand(file) {
  const packed = /\.(gz|zst)$/.exec(file.name);
  const inner = packed ? file.name.slice(0, packed.index) : file.name;
  const dot = inner.lastIndexOf(".");
  const ending = dot > 0 ? inner.slice(dot + 1).toLowerCase() : "";
  const stem = (dot > 0 ? inner.slice(0, dot) : inner).replace(/[^\w.-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 60);
  const format = ending === "txt" ? undefined : formats.find((one) => one.file_endings.includes(ending));
  return {
    name: stem,
    format: format?.name,
    coding: packed ? { gz: "gzip", zst: "zstd" }[packed[1]] : undefined,
  };
}

function requestOf(file, options) {
  const known = understand(file);
  const parameters = { name: known.name, format: known.format, ...options };
  const headers = { "Content-Type": "application/octet-stream" };
  if (known.coding) headers["Content-Encoding"] = known.coding;
  return { path: query("/v1/jobs", parameters), headers, coding: known.coding };
}

// Recognises a file of coordinates by its extension or by the names of its columns; returns its media type or null.
async function coordinateType(file) {
  const name = file.name.toLowerCase().replace(/\.(gz|zst)$/, "");
  if (name.endsWith(".co")) return "text/plain";
  if (!/\.(csv|tsv)$/.test(file.name.toLowerCase())) return null;
  const header = (await file.slice(0, 400).text()).split(/[\r\n]/, 1)[0].toLowerCase().split(/[,;\t]/)
    .map((one) => one.replaceAll('"', "").trim());
  const has = (...names) => names.every((one) => header.includes(one));
  // A file of coordinates has a column with the names of vertices; "x,y,weight" is a list of edges.
  const names = ["vertex", "id", "name", "node", "osmid"].some((one) => has(one));
  return header.length === 3 && names && (has("lon", "lat") || has("x", "y")) ? "text/csv" : null;
}

// The coordinates belong to the graph that was dropped together with them, else to the graph on the page.
function coordinatesRequest(type, graph) {
  if (graph === null) throw new Refusal({ title: "No graph for these coordinates", detail: "Upload or open the graph first.", code: "NoGraph" });
  return { method: "PUT", path: pathOf(graph, "/coordinates"), headers: { "Content-Type": type } };
}

async function send({ file, options, type, graph }, signal) {
  const { method, path, headers, coding } = type === null ? requestOf(file, options) : coordinatesRequest(type, graph);
  const bar = byId("upload-bar");
  const words = byId("upload-words");
  const shown = coding ? { "Content-Encoding": coding } : type === null ? {} : headers;
  tell("told", curl(path, { method: method ?? "POST", file: file.name, headers: shown }));
  return upload(path, file, { method, headers }, (sent, total) => {
    bar.value = total > 0 ? sent / total : 1;
    say(words, (sent < total ? `Sending ${file.name}: ${percent(sent / total)} of ${bytes(total)}`
      : `Sent ${file.name}; the service is reading it`) + behind());
  }, signal);
}

function behind() {
  return queue.length === 0 ? "" : `; ${plural(queue.length, "more file")} waiting`;
}

function show(active) {
  byId("upload").hidden = !active;
  byId("again").hidden = active || last === null;
  if (last !== null) say(byId("again"), `Send ${last.file.name} again`);
}

// Sends the next file of the queue. Each file has its own place for a problem.
async function sendNext() {
  if (sending !== null || queue.length === 0) return;
  const item = queue.shift();
  const { file, options, type } = item;
  const attempt = new AbortController();
  const problem = make("div");
  byId("submit-problem").append(problem);
  sending = attempt;
  if (type === null) last = item.isExample ? null : { file, options };
  byId("upload-bar").value = 0;
  say(byId("upload-words"), `Sending ${file.name}${behind()}`);
  show(true);
  const answer = await guard(problem, () =>
    send({ ...item, graph: item.batch.graph ?? shownGraph() }, attempt.signal), file,
  type === null ? (parameters) => submit([file], { ...options, ...parameters }) : null);
  sending = null;
  if (answer === undefined && isGone() && !attempt.signal.aborted) {
    problem.remove();
    queue.unshift(item);
    hold();
    return;
  }
  if (answer === undefined && queue.length + byId("submit-problem").children.length > 1) {
    problem.prepend(make("p", { class: "soft" }, file.name));
  }
  show(queue.length > 0);
  if (answer !== undefined && type !== null) {
    onPlaced(answer);
  } else if (answer !== undefined) {
    item.batch.graph = answer.graph;
    sent.set(answer.graph, { file, options });
    onJob(answer);
  }
  sendNext();
}

// Keeps the queue until the service answers again.
function hold() {
  show(true);
  byId("upload-bar").value = 0;
  say(byId("upload-words"), `${queue[0].file.name} will be sent when the service responds again${queue.length > 1 ? `; ${plural(queue.length - 1, "more file")} waiting` : ""}`);
}

// Sends the file of a graph again, under its name, with other parameters; null where the page has no file.
export function resendOf(graph) {
  const last = sent.get(graph);
  return last === undefined ? null : (parameters) => submit([last.file], { ...last.options, ...parameters });
}

async function submit(files, options, isExample = false) {
  if (sending === null) byId("submit-problem").replaceChildren();
  const typed = await Promise.all(files.map(async (file) => ({ file, type: await coordinateType(file) })));
  const graphs = typed.filter((one) => one.type === null);
  // The graph comes before its coordinates.
  const sorted = [...graphs, ...typed.filter((one) => one.type !== null)];
  const batch = { graph: null };
  const { name: _, ...others } = options;
  // Several graphs cannot have the same name.
  for (const one of sorted) queue.push({ ...one, batch, isExample, options: graphs.length > 1 ? others : options });
  sendNext();
}

function acceptDrops(zone, take) {
  const page = document.documentElement;
  let depth = 0;
  const light = (change) => {
    depth = Math.max(0, depth + change);
    zone.classList.toggle("over", depth > 0);
  };
  page.addEventListener("dragenter", (event) => { event.preventDefault(); light(1); });
  page.addEventListener("dragleave", () => light(-1));
  page.addEventListener("dragover", (event) => event.preventDefault());
  page.addEventListener("drop", (event) => {
    event.preventDefault();
    light(-depth);
    if (event.dataTransfer.files.length > 0) take([...event.dataTransfer.files]);
  });
}

function listExamples() {
  byId("examples").append(...examples.map((one) => make("li", {},
    make("button", {
      type: "button",
      class: "example",
      "data-example": one.name,
      onclick: () => {
        // The prefix keeps an example from taking over the name of a user's graph.
        const options = { name: `example-${one.name}`, format: one.format };
        if (one.directed) options.directed = one.directed;
        submit(one.make().map((text, at) => new File([text], one.files[at])), options, true);
      },
    }, make("span", { class: "title" }, one.title), make("span", { class: "about" }, one.about)))));
}

// job: called with the document of a submitted job; placed: called with the document of a graph that got new
// coordinates; graph: returns the ID of the graph on the page, or null.
export function startSubmit({ job, placed, graph }) {
  [onJob, onPlaced, shownGraph] = [job, placed, graph];
  const form = byId("options");
  const input = byId("file");
  // The options apply to the files chosen now and are reset for the next ones.
  const take = (files, before = {}) => {
    const options = { ...before, ...optionsOf(form) };
    form.reset();
    submit(files, options);
  };
  acceptDrops(byId("drop"), take);
  input.addEventListener("change", () => {
    if (input.files.length > 0) take([...input.files]);
    input.value = "";
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("again").addEventListener("click", () => take([last.file], last.options));
  byId("give-up").addEventListener("click", () => {
    if (sending === null) queue.length = 0;
    sending?.abort();
    show(false);
  });
  bus.addEventListener("back", sendNext);
  listExamples();
}

export async function listFormats() {
  const answer = await guard(byId("service-problem"), () => ask("/v1/formats"));
  if (answer === undefined) return;
  formats = answer.inputs;
  const select = byId("format");
  select.replaceChildren(select.firstElementChild, ...formats.map((one) => make("option", { value: one.name }, one.name)));
}
