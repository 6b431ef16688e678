// Questions about vertices: a pair and its path, the nearest, all within a distance.

import { byId, make, distance, plural, count, saveAs } from "./dom.js";
import { ask, fetchFrom, query, pathOf } from "./service.js";
import { guard } from "./problem.js";
import { showPath, showNear, edgeOf } from "./drawing.js";
import { chooseEdge } from "./change.js";

const LISTED = 500;
const NEAREST = 10;
let graph = null;
let located = false; // whether the vertices have coordinates in degrees
let shown = null; // the path listed
let apart = 0; // how far apart the first pair is

/* ---- A pair ---- */

function stepOf(source, target, weight) {
  return make("button", {
    type: "button", class: "step", title: "Change this weight",
    "aria-label": `+${distance(weight)}: change the weight of the edge from ${source} to ${target}`,
    onclick: () => chooseEdge(source, target, weight, edgeOf(target, source)),
  }, `+${distance(weight)}`);
}

function listed(path) {
  const items = path.vertices.slice(0, LISTED).map((name, index) =>
    make("li", {}, `${name} `, index > 0 ? stepOf(path.vertices[index - 1], name, path.weights[index - 1]) : null));
  const more = path.vertices.length - items.length;
  return make("ol", { class: "path", tabindex: "0", "aria-label": "Vertices of the path" }, items,
    more > 0 ? make("li", {}, `and ${count(more)} more`) : null);
}

function cell(text) {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Saves the path as a table, and as GeoJSON if it has coordinates.
function exports({ source, target, vertices, weights }) {
  const file = `${source}-${target}`.replace(/[^\w.-]+/g, "_");
  const saveTable = () => {
    let sum = 0;
    const lines = vertices.map((name, at) => {
      sum += at === 0 ? 0 : weights[at - 1];
      return `${cell(`${name}`)},${at === 0 ? "" : weights[at - 1]},${Number(sum.toPrecision(15))}`;
    });
    saveAs(new Blob([`vertex,weight,distance\n${lines.join("\n")}\n`], { type: "text/csv" }), `${file}.csv`);
  };
  const saveMap = () => guard(byId("pair-problem"), async () => {
    const response = await fetchFrom(query(pathOf(graph, "/path"), { source, target }),
      { headers: { Accept: "application/geo+json" }, told: true });
    saveAs(await response.blob(), `${file}.geojson`);
  });
  return make("p", { class: "exports words" }, "Save the path: ",
    make("button", { type: "button", onclick: saveTable }, "CSV"), " ",
    located ? make("button", { type: "button", onclick: saveMap }, "GeoJSON") : null);
}

// Shows the path of a pair. before: its path before the graph was changed, if the answer is compared with it.
function answered(source, target, path, before) {
  const box = byId("pair-answer");
  const was = before === undefined ? "" : before.distance === path.distance ? "; the same distance as before the change"
    : `; ${distance(before.distance)} before the change`;
  if (path.distance === null) {
    box.replaceChildren(make("p", {}, make("strong", {}, "Unreachable"), ` from ${source} to ${target}${was}.`));
    return;
  }
  box.replaceChildren(
    make("p", {}, make("strong", { class: "distance" }, distance(path.distance)),
      ` from ${source} to ${target}, over ${plural(path.weights.length, "edge")}${was}`),
    listed(path), exports({ ...path, source, target }));
}

async function askPair(source, target, before) {
  const asked = graph;
  const path = await guard(byId("pair-problem"), () =>
    ask(query(pathOf(asked, "/path"), { source, target }), { told: before === undefined }));
  if (asked !== graph) return;
  shown = path === undefined ? null : { ...path, source, target };
  if (path === undefined) {
    byId("pair-answer").replaceChildren();
    showPath([]);
    return;
  }
  answered(source, target, path, before);
  showPath(path.vertices, before?.vertices);
}

export function pair(source, target) {
  byId("source").value = source;
  byId("target").value = target;
  askPair(`${source}`, `${target}`);
}

/* ---- Around a vertex ---- */

function rows(answer) {
  const shown = answer.vertices.slice(0, LISTED);
  return make("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Vertices found" }, make("table", {},
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Vertex"), make("th", { scope: "col" }, "Distance"))),
    make("tbody", {}, shown.map((name, index) =>
      make("tr", {}, make("td", {}, `${name}`), make("td", {}, distance(answer.distances[index])))))));
}

function colourNear(from, { vertices, distances }, how, most) {
  const widest = how === "within" ? Number(most) : distances.at(-1);
  const partOf = (d) => (widest > 0 ? Math.max(0, d / widest) : 0);
  if (!showNear(from, vertices, distances.map(partOf))) return null;
  return make("p", { class: "words" }, "These vertices are coloured in the drawing: dark vertices are near, yellow vertices are far. A cross marks the vertex from which distances are measured.");
}

async function askAround(form, told) {
  const { around, most, how } = Object.fromEntries(new FormData(form));
  const path = how === "nearest" ? query(pathOf(graph, "/nearest"), { source: around, k: most })
    : query(pathOf(graph, "/within"), { source: around, max: most });
  const asked = graph;
  const answer = await guard(byId("around-problem"), () => ask(path, { told }));
  if (asked !== graph) return;
  if (told) showNear("", [], []);
  const found = answer?.vertices.length;
  byId("around-answer").replaceChildren(...(answer === undefined ? [] : [
    make("p", {}, found > LISTED ? `${count(found)} vertices; the first ${LISTED} are listed` : plural(found, "vertex", "vertices")),
    told && found > 0 ? colourNear(around, answer, how, most) ?? "" : "",
    found > 0 ? rows(answer) : "",
  ]));
}

// Proposes a distance within which some vertices lie, but not all: a quarter of a long distance.
function someDistance() {
  return apart > 0 ? Number((apart / 4).toPrecision(2)) : NEAREST;
}

export function startAsk() {
  byId("pair").addEventListener("submit", (event) => {
    event.preventDefault();
    askPair(byId("source").value, byId("target").value);
  });
  byId("swap").addEventListener("click", () => pair(byId("target").value, byId("source").value));
  byId("around-form").addEventListener("submit", (event) => {
    event.preventDefault();
    askAround(event.target, true);
  });
  byId("how").addEventListener("change", () => {
    const isNearest = byId("how").value === "nearest";
    byId("most-label").textContent = isNearest ? "How many" : "Distance";
    byId("most").value = isNearest ? NEAREST : someDistance();
  });
}

// Repeats the query on the changed graph.
export function askAgain(id) {
  graph = id;
  if (shown !== null) askPair(shown.source, shown.target, shown);
  askAround(byId("around-form"), false);
}

// pair: the pair { source, target, apart } that is shown first; hasDegrees: whether coordinates are in degrees.
export function openAsk(id, pair, hasDegrees) {
  graph = id;
  located = hasDegrees;
  shown = null;
  apart = pair.apart ?? 0;
  for (const place of ["pair-answer", "pair-problem", "around-answer", "around-problem"]) byId(place).replaceChildren();
  byId("source").value = byId("around").value = pair.source ?? "";
  byId("target").value = pair.target ?? "";
  if (byId("how").value === "within") byId("most").value = someDistance();
  else if (pair.source !== undefined) askAround(byId("around-form"), false);
}
