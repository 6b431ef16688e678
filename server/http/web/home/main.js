// The page: which graph is open, the key, and the history of curl lines.

import { byId, make, count, plural, percent, bytes, seconds, distance, say } from "./dom.js";
import { addressOf, ask, bus, hasKey, isGone, useKey, pathOf, spent, isOver } from "./service.js";
import { describe, guard, remedies } from "./problem.js";
import { startSubmit, listFormats, resendOf } from "./submit.js";
import { startJobs, addJob, refreshJobs, forgetJobs, currentJobs, stopWaiting } from "./jobs.js";
import { startDevices, showLoad } from "./devices.js";
import { startHeat, openHeat } from "./heat.js";
import { openStatistics } from "./statistics.js";
import { startDrawing, openDrawing, useTiles } from "./drawing.js";
import { startChange, openChange, chooseEdge } from "./change.js";
import { startAsk, openAsk, askAgain, pair } from "./ask.js";
import { openDownloads } from "./downloads.js";
import { startLibrary, refreshLibrary, forgetLibrary } from "./library.js";
import { startWelcome } from "./welcome.js";

const TOLD = 20;
let shown = null; // ID of the open graph
let wanted = false; // scroll to the next graph that opens
let changed = false; // the next graph that opens is a change of the current one
let turns = 0;
let limits;

/* ---- History ---- */

function showTold(line) {
  const box = byId("curl-line");
  say(box, line);
  byId("told").hidden = false;
  const list = byId("curl-list");
  list.prepend(make("li", {}, make("code", {}, line)));
  while (list.children.length > TOLD) list.lastElementChild.remove();
}

async function copy() {
  const button = byId("copy");
  try {
    await navigator.clipboard.writeText(byId("curl-line").textContent);
    say(button, "Copied");
  } catch {
    // Without permission to use the clipboard, select the line to be copied by hand.
    getSelection().selectAllChildren(byId("curl-line"));
    say(button, "Selected");
  }
  setTimeout(() => say(button, "Copy"), 2000);
}

/* ---- The key ---- */

function showKey() {
  say(byId("key-button"), hasKey() ? "Key in use" : "Key");
}

// The dialog opens only once by itself, or background requests would open it again and again.
let declined = false;

function askForKey(wrong) {
  if (wrong && declined) return;
  const dialog = byId("key-dialog");
  say(byId("key-words"), wrong && hasKey() ? "The service refused this key."
    : wrong ? "This service needs a key." : "The key is kept until you close this tab.");
  if (!dialog.open) dialog.showModal();
}

function startKey() {
  byId("key-button").addEventListener("click", () => askForKey(false));
  byId("key-dialog").addEventListener("cancel", () => { declined = true; });
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    byId("key-dialog").close();
    declined = false;
    useKey(byId("key").value);
    byId("key").value = "";
  });
  const close = (forget) => {
    declined = true;
    byId("key-dialog").close();
    if (forget) useKey("");
  };
  byId("key-forget").addEventListener("click", () => close(true));
  byId("key-cancel").addEventListener("click", () => close(false));
  bus.addEventListener("locked", () => askForKey(true));
  bus.addEventListener("asked", () => askForKey(false));
  bus.addEventListener("unlocked", () => { showKey(); forgetJobs(); forgetLibrary(); closeGraph(); begin(); });
  showKey();
}

/* ---- One graph ---- */

const kinds = { i4: "32-bit integers", u2: "16-bit integers", f4: "32-bit floats (7 digits)", f8: "64-bit floats" };

// Explains "i4 x 0.01": decimals that are added as integers.
function arithmeticOf({ result, summary }) {
  const [kind, unit] = summary.arithmetic?.split(" x ") ?? [];
  return unit === undefined || summary.kind !== result ? "" : `, added exactly as ${kinds[kind]} in units of ${unit}`;
}

function factsOf(graph, job) {
  const facts = [
    plural(graph.n, "vertex", "vertices"),
    `${plural(graph.m, "edge")}, ${graph.directed ? "directed" : "undirected"}`,
  ];
  if (graph.result) facts.push(`distances as ${kinds[graph.result] ?? graph.result}${arithmeticOf(graph)}`);
  if (graph.summary.components > 1) facts.push(`${count(graph.summary.components)} components`);
  const [least, most] = [graph.summary.min_weight, graph.summary.max_weight];
  if (graph.m > 0) facts.push(least === most ? `all weights ${distance(least)}` : `weights ${distance(least)} to ${distance(most)}`);
  if (job?.state === "done") {
    const time = job.timings && spent(job.timings) > 0 ? ` in ${seconds(spent(job.timings))}` : "";
    facts.push(job.input?.cached ? `already solved, on ${job.device}` : `solved${time} on ${job.device}`);
    if (job.result?.kind === "hierarchy") facts.push(`stored as a hierarchy of ${count(job.result.arcs)} arcs, ${bytes(job.result.bytes)} (${job.result.reason})`);
    else if (job.plan && job.plan.kind !== "dense") {
      facts.push(`sparse: ${percent(job.plan.work_fraction)} of the work of a dense graph${job.plan.cached ? ", with a stored plan" : ""}`);
    }
    if (job.verification) facts.push(`${count(job.verification.rows)} rows verified`);
  }
  return facts;
}

const phases = [
  ["parse_s", "reading"], ["queue_s", "waiting"], ["fill_s", "preparing"], ["h2d_s", "copying to the device"],
  ["compute_s", "computing"], ["d2h_s", "copying from the device"], ["write_s", "writing"],
];

function phasesOf(timings) {
  return phases.filter(([name]) => timings[name] > 0)
    .map(([name, words]) => make("li", {}, `${words} `, make("strong", {}, seconds(timings[name]))));
}

function showHead(graph, job) {
  say(byId("graph-name"), graph.names[0] ?? graph.id.slice(0, 12));
  byId("facts").replaceChildren(...factsOf(graph, job).map((fact) => make("li", {}, fact)));
  byId("phases").replaceChildren(...(job?.timings && !job.input?.cached ? phasesOf(job.timings) : []));
  byId("warnings").replaceChildren(...(job?.warnings ?? []).map((warning) => {
    const buttons = remedies(warning, resendOf(graph.id));
    return make("li", {}, warning.detail, buttons ?? make("p", { class: "hint" }, warning.hint));
  }));
  document.title = `${byId("graph-name").textContent} · apspd`;
  byId("graph-id").textContent = graph.id;
}

async function solve() {
  const job = await guard(byId("graph-problem"), () =>
    ask("/v1/jobs", { method: "POST", json: { graph: shown }, told: true }));
  if (job !== undefined) addJob(job);
}

// Up to this many vertices, names are suggested while typing, and a row is fetched to find the farthest vertex.
const MOST_SUGGESTED = 1000;
const LONGEST_ROW = 20000;

// Chooses the pair that is shown first, with its distance: the first vertex and the vertex farthest from it, or
// in a large graph the first and the last vertex.
async function firstPair({ id, n }) {
  if (n === 0) return {};
  const suggested = n <= MOST_SUGGESTED ? (await ask(pathOf(id, "/vertices"))).vertices : [];
  byId("names").replaceChildren(...suggested.map((name) => make("option", { value: name })));
  const corner = await ask(pathOf(id, `/heatmap?size=1&rows=0:1&cols=${n - 1}:${n}`));
  const pair = { source: corner.rows.vertices[0], target: corner.cols.vertices[0], apart: corner.cells[0].mean[0] };
  if (n > LONGEST_ROW) return pair;
  const { destinations, distances } = await ask(pathOf(id, `/row/${encodeURIComponent(pair.source)}`));
  let farthest = 0;
  distances.forEach((one, at) => { if (one > distances[farthest]) farthest = at; });
  return farthest === 0 ? pair : { ...pair, target: destinations[farthest], apart: distances[farthest] };
}

// Returns the job's document, or null if the job has been removed from the service's history.
async function jobOf(graph) {
  return graph.job ? ask(`/v1/jobs/${graph.job}`).catch(() => null) : null;
}

async function load(asked, change) {
  const graph = await ask(pathOf(asked));
  const job = await jobOf(graph);
  if (asked !== shown) return;
  // Use the ID from here on: the name may move to another graph.
  const id = graph.id;
  shown = id;
  showHead(graph, job);
  const solved = graph.result !== null;
  byId("solved").hidden = !solved;
  byId("unsolved").hidden = solved;
  if (!solved) {
    const busy = job !== null && !isOver(job);
    byId("solve").hidden = busy;
    say(byId("why-unsolved"), busy ? "This graph is being solved." : "This graph has not been solved yet.");
    if (job?.problem) byId("graph-problem").replaceChildren(describe(job.problem));
    return;
  }
  openChange(graph);
  if (change) {
    askAgain(id);
  } else {
    const pair = await firstPair(graph);
    if (id !== shown) return;
    openAsk(id, pair, graph.coordinates?.system === "degrees");
  }
  const rows = job?.result?.kind === "hierarchy" ? graph.n : 0;
  await Promise.all([
    openHeat(id, rows),
    openStatistics(id, rows),
    openDrawing(id, graph, graph.result),
    openDownloads(id, graph.names[0] ?? "distances", graph, graph.result, { limits }),
  ]);
  // For an example, a path is shown at once.
  if (!change && id === shown && graph.names[0]?.startsWith("example-")) byId("pair").requestSubmit();
}

// Clears what is shown of the previous graph.
function closeGraph() {
  byId("solved").hidden = byId("unsolved").hidden = true;
  say(byId("graph-name"), "");
  byId("graph-id").textContent = "";
  byId("facts").replaceChildren();
  byId("phases").replaceChildren();
  byId("warnings").replaceChildren();
}

// Scrolls to the result if it is below, and announces it to screen readers.
function showResult() {
  wanted = false;
  if (matchMedia("(max-width: 60rem)").matches) byId("workspace").scrollIntoView({ block: "start" });
  if (byId("solved").hidden) return;
  say(byId("news"), `${byId("graph-name").textContent}: solved, ${byId("facts").firstElementChild.textContent}. The result is shown.`);
}

async function open(id) {
  shown = id;
  byId("welcome").hidden = true;
  byId("workspace").hidden = false;
  byId("workspace").setAttribute("aria-busy", "true");
  const turn = ++turns;
  const change = changed;
  changed = false;
  if (!change) closeGraph();
  // Shows the requested name until the service has described the graph.
  if (!change) {
    say(byId("graph-name"), id);
    document.title = `${id} · apspd`;
  }
  await guard(byId("graph-problem"), () => load(id, change));
  if (turn !== turns) return;
  if (wanted) showResult();
  byId("workspace").setAttribute("aria-busy", "false");
}

// Opens the graph in the URL, by ID, name or job; reports one that does not exist.
function follow() {
  let id = location.hash.slice(1);
  try {
    id = decodeURIComponent(id);
  } catch {
    // A name with a bare percent sign is not decoded.
  }
  if (id !== "") open(id);
  else close();
}

function close() {
  shown = null;
  turns += 1;
  byId("workspace").hidden = true;
  byId("welcome").hidden = false;
  document.title = "apspd";
}

function choose(id, scroll = true) {
  wanted = scroll;
  if (location.hash === `#${encodeURIComponent(id)}`) follow();
  else location.hash = encodeURIComponent(id);
}

function show(job) {
  stopWaiting();
  changed = shown !== null && job.parent === shown && !byId("solved").hidden;
  choose(job.graph, !changed);
}

// Scrolls to the job if it is below the visible part, as on a phone.
function submitted(job) {
  addJob(job);
  if (!isOver(job)) byId("jobs-title").scrollIntoView({ block: "nearest" });
}

/* ---- The page ---- */

async function begin() {
  const version = await guard(byId("service-problem"), () => ask("/version"));
  if (version === undefined) return;
  say(byId("version"), version.version);
  limits = await guard(byId("service-problem"), () => ask("/v1/limits"));
  if (limits === undefined) return;
  useTiles(limits.tiles, limits.tiles_credit);
  say(byId("limit"), `Graphs with up to ${count(limits.vertex_limit)} vertices can be stored as a full matrix, larger graphs as a compact hierarchy.`);
  listFormats();
  startDevices(currentJobs);
  refreshJobs();
  refreshLibrary();
  follow();
}

/* ---- A service that does not answer ---- */

const RETRY_MS = 3000;
let retrying;

async function retry() {
  clearTimeout(retrying);
  say(byId("gone-words"), "The service does not respond. The page retries every few seconds.");
  await ask("/version").catch(() => null);
  if (isGone()) retrying = setTimeout(retry, RETRY_MS);
}

function startBanner() {
  byId("retry").addEventListener("click", retry);
  bus.addEventListener("gone", () => {
    byId("gone").hidden = false;
    retrying = setTimeout(retry, RETRY_MS);
  });
  bus.addEventListener("back", () => {
    clearTimeout(retrying);
    byId("gone").hidden = true;
    say(byId("news"), "The service responds again.");
    if (limits === undefined || byId("solved").hidden) {
      begin();
    } else {
      refreshJobs();
      refreshLibrary();
    }
  });
}

byId("shell").textContent = [
  `curl -H 'Prefer: wait=30' --data-binary @town.gr '${addressOf("/v1/jobs?name=town")}'`,
  `curl '${addressOf("/v1/graphs/town/path?source=1&target=2")}'`,
  `curl -o town.npy ${addressOf("/v1/graphs/town/matrix")}`,
].join("\n");
startKey();
startSubmit({
  job: submitted,
  placed: (graph) => { if (graph.id === shown || shown === null) choose(graph.id); },
  graph: () => shown,
});
startWelcome();
startBanner();
startLibrary(choose, (id) => { if (id === shown) location.hash = ""; });
startJobs(show);
startHeat(pair);
startDrawing(pair, chooseEdge);
startChange(addJob);
startAsk();
byId("solve").addEventListener("click", solve);
byId("copy").addEventListener("click", copy);
bus.addEventListener("told", (event) => showTold(event.detail));
bus.addEventListener("jobs", (event) => showLoad(event.detail));
addEventListener("hashchange", follow);
// Keeps the URL of the graph.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
begin();
