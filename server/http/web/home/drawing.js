// The graph as a drawing, with a path on it: whole while it is small enough, else some of its vertices.

import { byId, count, plural, keepDrawn, sharpen, say } from "./dom.js";
import { ask, fetchFrom, pathOf, Refusal } from "./service.js";
import { layOut } from "./layout.js";
import { Camera } from "./camera.js";
import { paint } from "./paint.js";
import { mercator, Tiles } from "./tiles.js";

// Whole: laid out by distances up to so many vertices, at their coordinates up to so many.
const MOST_VERTICES = 10000;
const MOST_PLACED = 200000;
const MOST_EDGES = 600000;
// Up to so many vertices all pairs are laid out; beyond, every vertex and some pivots.
const ALL_PAIRS = 400;
const PIVOTS = 40;
const PULLS = 60000;
// Of a larger graph so many vertices are drawn, and of a path through it so many.
const SAMPLE = 300;
const SMALL_SAMPLE = 120;
const STATIONS = 50;
const NEIGHBOURS = 3;

const canvas = byId("drawing");
const hint = "Click two vertices to see the path between them, or an edge to change its weight.";
let camera;
let tiles = null; // beneath coordinates in degrees, where there is a server of them
let graph = null;
let path = []; // rows, of these names
let names = [];
let before = []; // rows of the path in the graph that was changed
let edge = null; // the one that was clicked, [i, j, weight]
let picked = null;
let near = new Map(); // rows of vertices near one, and how far they are: 0 to 1
let onPair = () => {};
let onEdge = () => {};
let opened = 0;

/* ---- Distances as wanted lengths ---- */

const arrays = { i4: Int32Array, u2: Uint16Array, f4: Float32Array, f8: Float64Array };
const farValues = { i4: 1073741823, u2: 65535 };

// A look at the rows of some sources.
async function rowsOf(id, sources, vertices, kind) {
  if (sources.length === vertices.length && graphIsSmall(vertices.length)) {
    const response = await fetchFrom(pathOf(id, "/matrix?format=raw"));
    const all = new arrays[kind](await response.arrayBuffer());
    const far = farValues[kind] ?? Infinity;
    return (row, column) => {
      const value = all[row * vertices.length + column];
      return value === far ? null : value;
    };
  }
  const table = await ask(pathOf(id, "/table"), { method: "POST", json: { sources: sources.map((row) => vertices[row]) } });
  return (row, column) => table.distances[row][column];
}

function graphIsSmall(n) {
  return n <= ALL_PAIRS;
}

function termsOf(n, sources, look) {
  const terms = [];
  let longest = 0;
  const apart = [];
  sources.forEach((source, row) => {
    for (let j = 0; j < n; j += 1) {
      if (j === source || (sources.length === n && j < source)) continue;
      const there = look(row, j);
      const back = sources.length === n ? look(j, source) : null;
      const known = [there, back].filter((one) => one !== null).map(Math.abs);
      if (known.length === 0) apart.push({ i: source, j, d: 0 });
      else terms.push({ i: source, j, d: Math.min(...known) });
      if (known.length > 0) longest = Math.max(longest, terms[terms.length - 1].d);
    }
  });
  const least = longest > 0 ? longest / 200 : 1;
  for (const term of terms) term.d = Math.max(term.d, least);
  for (const term of apart) term.d = (longest || 1) * 0.9;
  return terms.concat(apart);
}

function pull(edges, terms) {
  const longest = terms.reduce((most, term) => Math.max(most, term.d), 0);
  const stride = Math.ceil(edges.length / PULLS) || 1;
  for (let at = 0; at < edges.length; at += stride) {
    const [i, j, w] = edges[at];
    if (i !== j) terms.push({ i, j, d: Math.max(Math.abs(w), longest / 200) });
  }
  return terms;
}

/* ---- Places ---- */

function boundsOf(x, y, rows) {
  const bounds = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  for (const i of rows) {
    if (!Number.isFinite(x[i])) continue;
    bounds.left = Math.min(bounds.left, x[i]);
    bounds.right = Math.max(bounds.right, x[i]);
    bounds.top = Math.min(bounds.top, y[i]);
    bounds.bottom = Math.max(bounds.bottom, y[i]);
  }
  return bounds.left <= bounds.right ? bounds : { left: 0, right: 1, top: 0, bottom: 1 };
}

function frame(rows) {
  if (graph !== null && rows.length > 1) camera.frame(boundsOf(graph.x, graph.y, rows));
}

// A path that is small on the screen, or not on it, is framed.
function keepInView() {
  const rows = [...path, ...before];
  if (rows.length < 2 || canvas.clientWidth === 0) return;
  const bounds = boundsOf(graph.x, graph.y, rows);
  const at = camera.projection();
  const [left, top] = at(bounds.left, bounds.top);
  const [right, bottom] = at(bounds.right, bounds.bottom);
  const away = left < 0 || top < 0 || right > canvas.clientWidth || bottom > canvas.clientHeight;
  const small = right - left < canvas.clientWidth / 5 && bottom - top < canvas.clientHeight / 5;
  if (away || small) frame(rows);
}

// The coordinates that were uploaded, north up, degrees as on a map; null where there are none.
async function coordinatesOf({ id, n, coordinates }, vertices) {
  if (n > MOST_PLACED || !(coordinates?.located > 1)) return null;
  const text = await (await fetchFrom(pathOf(id, "/coordinates"))).text();
  const rows = new Map(vertices.map((name, row) => [`${name}`, row]));
  const x = new Float64Array(n).fill(NaN);
  const y = new Float64Array(n).fill(NaN);
  const degrees = coordinates.system === "degrees";
  // Lines of CSV; the header sets nothing that the line of a vertex of its name would not set again.
  for (const [, quoted, plain, first, second] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*)),([^,\n]*),([^,\n]*)\n/g)) {
    const row = rows.get(quoted?.replaceAll('""', '"') ?? plain);
    x[row] = Number(first);
    y[row] = degrees ? -mercator(Number(second)) : -Number(second);
  }
  return { x, y, missing: coordinates.missing, onMap: degrees };
}

/* ---- Drawing ---- */

function redraw() {
  if (graph === null || canvas.clientWidth === 0) return;
  const sheet = sharpen(canvas);
  const at = camera.projection();
  graph.points = Array.from(graph.x, (x, i) => at(x, graph.y[i]));
  if (tiles !== null && graph.onMap) tiles.paint(sheet, at);
  byId("drawing-credit").hidden = tiles === null || !graph.onMap;
  const cut = paint(sheet, { ...graph, path, before, edge, picked, near });
  say(byId("drawing-cut"), cut ? "Not all edges are drawn: zoom in to see more of them." : "");
}

/* ---- Pointer ---- */

function placeOf(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function nearest(event, within = 14) {
  if (graph?.points === undefined) return null;
  const [px, py] = placeOf(event);
  let best = null;
  let least = within;
  graph.points.forEach(([x, y], i) => {
    const far = Math.hypot(px - x, py - y);
    if (far < least) [least, best] = [far, i];
  });
  return best;
}

// The edge beneath the pointer, by pixels to the nearest point of its line.
function nearestEdge(event) {
  if (graph?.points === undefined || graph.sampled) return null;
  const [x, y] = placeOf(event);
  let best = null;
  let least = 8;
  for (const one of graph.edges) {
    const [[x1, y1], [x2, y2]] = [graph.points[one[0]], graph.points[one[1]]];
    const [dx, dy] = [x2 - x1, y2 - y1];
    const part = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
    const far = Math.hypot(x1 + part * dx - x, y1 + part * dy - y);
    if (far < least) [least, best] = [far, one];
  }
  return best;
}

// The weight of an edge of a directed graph that is drawn whole.
export function edgeOf(source, target) {
  if (graph === null || !graph.directed || graph.sampled) return undefined;
  const [i, j] = [graph.index.get(source), graph.index.get(target)];
  return graph.edges.find((one) => one[0] === i && one[1] === j)?.[2];
}

function pick(event) {
  if (camera.moved) return;
  let found = nearest(event);
  edge = found === null ? nearestEdge(event) : null;
  // On a map any place stands for the vertex that is nearest to it.
  if (found === null && edge === null && graph?.placed) found = nearest(event, Infinity);
  if (edge !== null) {
    const [source, target] = [graph.vertices[edge[0]], graph.vertices[edge[1]]];
    onEdge(source, target, edge[2], edgeOf(target, source));
    redraw();
  }
  if (found === null) return;
  if (picked === null) {
    picked = found;
    path = before = [];
    say(byId("drawing-words"), `From ${graph.vertices[found]}: click the destination.`);
    redraw();
  } else {
    const from = picked;
    picked = null;
    onPair(graph.vertices[from], graph.vertices[found]);
  }
}

// template: of the addresses of a map's tiles; credit: whose they are.
export function useTiles(template, credit) {
  tiles = template === undefined ? null : new Tiles(template, redraw);
  say(byId("drawing-credit"), credit ?? "");
}

export function startDrawing(pair, change) {
  onPair = pair;
  onEdge = change;
  camera = new Camera(canvas, redraw);
  keepDrawn(canvas, redraw);
  canvas.addEventListener("click", pick);
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons !== 0) return;
    const found = nearest(event);
    canvas.title = found === null ? "" : `${graph.vertices[found]}`;
    canvas.classList.toggle("over", found !== null || nearestEdge(event) !== null);
  });
  byId("zoom-in").addEventListener("click", () => camera.enlarge(1.5));
  byId("zoom-out").addEventListener("click", () => camera.enlarge(1 / 1.5));
  byId("zoom-whole").addEventListener("click", () => camera.whole());
  byId("zoom-path").addEventListener("click", () => frame([...path, ...before]));
}

/* ---- One graph ---- */

function showWords(text) {
  byId("drawing-box").hidden = graph === null;
  say(byId("drawing-words"), text);
}

async function edgesOf(id, index) {
  const list = await ask(pathOf(id, "/edges"));
  return list.edges.map(([u, v, w]) => [index.get(u), index.get(v), w]);
}

// A changed graph stays where it was, so that one sees the path move.
async function follow(id) {
  const turn = opened;
  const edges = graph.sampled ? graph.edges : await edgesOf(id, graph.index);
  if (turn !== opened) return;
  graph = { ...graph, id, edges };
  redraw();
}

function spread(n, wanted) {
  const chosen = Math.min(n, wanted);
  return Array.from({ length: chosen }, (_, i) => Math.floor((i * n) / chosen));
}

function indexOf(vertices) {
  return new Map(vertices.map((name, row) => [name, row]));
}

async function loadWhole(id, about, kind, vertices, places, index) {
  const edges = await edgesOf(id, index);
  if (places !== null) {
    const missing = places.missing > 0 ? ` ${plural(places.missing, "vertex has", "vertices have")} none and ${places.missing === 1 ? "is" : "are"} not shown.` : "";
    return { edges, ...places, placed: true, words: `Vertices are drawn at their coordinates.${missing} ${hint}` };
  }
  const n = about.n;
  const sources = spread(n, graphIsSmall(n) ? n : PIVOTS);
  const terms = termsOf(n, sources, await rowsOf(id, sources, vertices, kind));
  return { edges, ...layOut(n, graphIsSmall(n) ? terms : pull(edges, terms)), words: `Vertices are placed so that the distances on the screen are close to those in the graph. ${hint}` };
}

// Some vertices, spread over the rows, each joined to those that are nearest to it.
async function loadSample(id, about, all) {
  const rows = spread(about.n, about.n > MOST_PLACED ? SMALL_SAMPLE : SAMPLE);
  const vertices = rows.map((row) => all[row]);
  const { distances } = await ask(pathOf(id, "/table"), { method: "POST", json: { sources: vertices, destinations: vertices } });
  const places = layOut(rows.length, termsOf(rows.length, rows.map((_, i) => i), (i, j) => distances[i][j]));
  const edges = distances.flatMap((row, i) => row.map((d, j) => [i, j, d])
    .filter(([, j, d]) => d !== null && j !== i).sort((a, b) => a[2] - b[2]).slice(0, NEIGHBOURS));
  const words = `This graph is too large to be drawn whole, so ${count(rows.length)} of its ${count(about.n)} vertices are shown, each joined to the nearest of them. `
    + `The limit is ${count(MOST_EDGES)} edges, and ${count(MOST_VERTICES)} vertices or, with coordinates, ${count(MOST_PLACED)}. `
    + "Click two vertices to see the path between them.";
  return { vertices, index: indexOf(vertices), edges, x: [...places.x], y: [...places.y], sampled: true, own: rows.length, words };
}

async function load(id, about, kind) {
  const { vertices } = await ask(pathOf(id, "/vertices"));
  const index = indexOf(vertices);
  const places = about.m > MOST_EDGES ? null : await coordinatesOf(about, vertices);
  const whole = about.m <= MOST_EDGES && (places !== null || about.n <= MOST_VERTICES);
  const made = whole ? await loadWhole(id, about, kind, vertices, places, index) : await loadSample(id, about, vertices);
  return { id, n: about.n, directed: about.directed, vertices, index, ...made };
}

export async function openDrawing(id, about, kind) {
  const turn = ++opened;
  edge = null;
  if (graph !== null && about.parent === graph.id && about.n === graph.n) {
    await follow(id);
    return;
  }
  graph = null;
  path = names = before = [];
  near = new Map();
  picked = null;
  if (about.n < 2) {
    showWords("");
    return;
  }
  showWords("Computing the layout.");
  try {
    const made = await load(id, about, kind);
    if (turn !== opened) return;
    graph = made;
    showWords(made.words);
    camera.reset(boundsOf(graph.x, graph.y, graph.x.keys()));
    if (names.length > 0) showPath(names);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (turn === opened) showWords(`There is no drawing: ${error.message}`);
  }
}

/* ---- Paths ---- */

// Vertices that a sample lacks get their places from those that are nearest in it.
async function addStations(vertices) {
  const wanted = spread(vertices.length, STATIONS).map((at) => vertices[at]).concat(vertices.slice(-1));
  const absent = [...new Set(wanted)].filter((name) => !graph.index.has(name));
  if (absent.length > 0) {
    const { own } = graph;
    const { distances } = await ask(pathOf(graph.id, "/table"), {
      method: "POST", json: { sources: absent, destinations: graph.vertices.slice(0, own) },
    });
    absent.forEach((name, at) => {
      const near = distances[at].map((d, j) => [d, j]).filter(([d]) => d !== null).sort((a, b) => a[0] - b[0]).slice(0, 4);
      const weights = near.map(([d]) => 1 / (Math.abs(d) || 1e-9) ** 2);
      const sum = weights.reduce((total, one) => total + one, 0);
      const mean = (list) => near.reduce((total, [, j], k) => total + list[j] * weights[k], 0) / sum;
      graph.index.set(name, graph.vertices.length);
      graph.vertices.push(name);
      graph.x.push(mean(graph.x));
      graph.y.push(mean(graph.y));
    });
  }
  return wanted;
}

// Vertices that an earlier path brought go with it.
function forgetStations() {
  for (const name of graph.vertices.splice(graph.own)) {
    near.delete(graph.index.get(name));
    graph.index.delete(name);
  }
  graph.x.length = graph.y.length = graph.own;
}

// parts: how far each of the vertices is, from 0 to 1. Whether any of them is drawn.
export function showNear(vertices, parts) {
  near = new Map();
  if (graph === null) return false;
  vertices.forEach((name, at) => {
    const row = graph.index.get(name);
    if (row !== undefined && Number.isFinite(graph.x[row])) near.set(row, parts[at]);
  });
  redraw();
  return near.size > 0;
}

// was: the vertices of the path before a change.
export async function showPath(vertices, was = []) {
  names = vertices;
  picked = null;
  if (graph === null) return;
  let drawn = vertices;
  if (graph.sampled) {
    path = before = [];
    forgetStations();
    drawn = await addStations(vertices).catch(() => []);
    if (names !== vertices) return;
  }
  const rows = (list) => list.map((name) => graph.index.get(name)).filter((row) => row !== undefined);
  path = rows(drawn);
  before = rows(was);
  byId("zoom-path").disabled = path.length < 2;
  redraw();
  keepInView();
}
