// The graph on its map: the path, the vertices near one, and clicks on vertices and edges.

import { byId, colour, keepDrawn, saveAs, say } from "./dom.js";
import { Refusal } from "./service.js";
import { addStations, edgesOf, forgetStations, hint, loadDrawing } from "./places.js";
import { frame, keepInView, makeMap, showWhole } from "./map.js";
import { paint } from "./paint.js";

const box = byId("drawing");
let map = null;
let sheet = null;
let fit = () => {};
let tiles = null; // map tiles below coordinates in degrees, if a tile server is configured
let graph = null;
let path = []; // rows of the path
let names = [];
let before = []; // rows of the path before the change
let edge = null; // clicked edge, [i, j, weight]
let picked = null;
let near = new Map(); // rows of nearby vertices and their relative distance, 0 to 1
let centre = null; // row of the vertex that distances are measured from
let points = []; // pixels of the vertices as last painted
let onPair = () => {};
let onEdge = () => {};
let opened = 0;

/* ---- Drawing ---- */

function paintOn(target, pixels) {
  const cut = paint(target, { ...graph, points: pixels, path, before, edge, picked, near, centre });
  say(byId("drawing-cut"), cut ? "Not all edges are drawn: zoom in to see more edges." : "");
}

function redraw() {
  sheet?.change();
}

function closeMap() {
  map?.remove();
  map = sheet = null;
  fit = () => {};
  points = [];
}

function openMap() {
  closeMap();
  const draw = (target, pixels) => {
    points = pixels;
    paintOn(target, pixels);
  };
  ({ map, sheet, fit } = makeMap(box, { places: graph, onMap: graph.onMap === true, tiles, paint: draw, onPick: pick, onPoint: point }));
  byId("drawing-credit").hidden = tiles === null || !graph.onMap;
  byId("solved").classList.toggle("placed", graph.placed === true);
}

// Saves the drawing as a picture on the background of the page; map tiles belong to others and are left out.
function savePicture() {
  const { x: width, y: height } = map.getSize();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  context.fillStyle = colour("--panel");
  context.fillRect(0, 0, width, height);
  paintOn({ context, width, height }, sheet.points());
  canvas.toBlob((blob) => saveAs(blob, `${byId("graph-name").textContent}.png`));
}

/* ---- Pointer ---- */

function nearest({ x, y }, within = 14) {
  let best = null;
  let least = within;
  points.forEach(([px, py], i) => {
    const far = Math.hypot(px - x, py - y);
    if (far < least) [least, best] = [far, i];
  });
  return best;
}

// The edge under the pointer, by distance in pixels to its line.
function nearestEdge({ x, y }) {
  if (points.length === 0 || graph.sampled) return null;
  let best = null;
  let least = 8;
  for (const one of graph.edges) {
    const [[x1, y1], [x2, y2]] = [points[one[0]], points[one[1]]];
    const [dx, dy] = [x2 - x1, y2 - y1];
    const part = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
    const far = Math.hypot(x1 + part * dx - x, y1 + part * dy - y);
    if (far < least) [least, best] = [far, one];
  }
  return best;
}

// The weight of an edge of a directed graph that is drawn completely.
export function edgeOf(source, target) {
  if (graph === null || !graph.directed || graph.sampled) return undefined;
  const [i, j] = [graph.index.get(source), graph.index.get(target)];
  return graph.edges.find((one) => one[0] === i && one[1] === j)?.[2];
}

function pick(place) {
  let found = nearest(place);
  edge = found === null ? nearestEdge(place) : null;
  // On a map, any position selects the nearest vertex.
  if (found === null && edge === null && graph.placed) found = nearest(place, Infinity);
  if (edge !== null) {
    const [source, target] = [graph.vertices[edge[0]], graph.vertices[edge[1]]];
    onEdge(source, target, edge[2], edgeOf(target, source));
  }
  if (found !== null && picked === null) {
    picked = found;
    path = before = [];
    say(byId("drawing-words"), `From ${graph.vertices[found]}: click the destination.`);
  } else if (found !== null) {
    const from = picked;
    picked = null;
    onPair(graph.vertices[from], graph.vertices[found]);
  }
  redraw();
}

// place: the pixel under the mouse, or null after the mouse has left.
function point(place) {
  const found = place === null ? null : nearest(place);
  box.title = found === null ? "" : `${graph.vertices[found]}`;
  box.classList.toggle("over", found !== null || (place !== null && nearestEdge(place) !== null));
}

/* ---- The whole screen ---- */

async function toggleFull() {
  const card = byId("drawing-box");
  if (document.fullscreenElement === card) await document.exitFullscreen();
  else if (card.requestFullscreen) await card.requestFullscreen().catch(() => card.classList.toggle("full"));
  else card.classList.toggle("full");
  showFull();
}

function showFull() {
  const card = byId("drawing-box");
  const full = document.fullscreenElement === card || card.classList.contains("full");
  say(byId("full"), full ? "Exit full screen" : "Full screen");
  // In full screen there is nothing to scroll with one finger.
  if (full) map?.dragging.enable();
}

// template: URL template of the map tiles; credit: their attribution.
export function useTiles(template, credit) {
  tiles = template ?? null;
  say(byId("drawing-credit"), credit ?? "");
}

export function startDrawing(pair, change) {
  onPair = pair;
  onEdge = change;
  keepDrawn(box, () => fit());
  byId("zoom-whole").addEventListener("click", () => showWhole(map, graph));
  byId("zoom-path").addEventListener("click", () => frame(map, graph, [...path, ...before]));
  byId("picture").addEventListener("click", savePicture);
  byId("full").addEventListener("click", toggleFull);
  document.addEventListener("fullscreenchange", showFull);
}

/* ---- One graph ---- */

function showWords(text) {
  byId("drawing-box").hidden = graph === null;
  say(byId("drawing-words"), text);
}

// A changed graph keeps its layout, so that the change of the path is visible.
async function follow(id) {
  const turn = opened;
  const edges = graph.sampled ? graph.edges : await edgesOf(id, graph.index);
  if (turn !== opened) return;
  Object.assign(graph, { id, edges });
  redraw();
}

export async function openDrawing(id, about, kind) {
  const turn = ++opened;
  edge = null;
  if (graph !== null && about.parent === graph.id && about.n === graph.n) {
    await follow(id);
    return;
  }
  closeMap();
  graph = null;
  path = names = before = [];
  near = new Map();
  picked = centre = null;
  byId("solved").classList.remove("placed");
  if (about.n < 2) {
    showWords("");
    return;
  }
  showWords("Computing the layout.");
  try {
    const made = await loadDrawing(id, about, kind);
    if (turn !== opened) return;
    graph = made;
    showWords(made.words);
    openMap();
    if (names.length > 0) showPath(names);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (turn === opened) showWords(`The graph cannot be drawn: ${error.message}`);
  }
}

/* ---- Answers ---- */

// Colours the vertices near a centre. parts: the distance of each from the centre, scaled to 0 to 1. Returns
// whether any of them is drawn.
export function showNear(from, vertices, parts) {
  near = new Map();
  centre = null;
  if (graph === null) return false;
  const rowOf = new Map(graph.vertices.map((name, row) => [`${name}`, row]));
  vertices.forEach((name, at) => {
    const row = rowOf.get(`${name}`);
    if (row !== undefined && Number.isFinite(graph.x[row])) near.set(row, parts[at]);
  });
  centre = near.size === 0 ? null : rowOf.get(`${from}`) ?? null;
  if (centre !== null) near.set(centre, 0);
  redraw();
  return near.size > 0;
}

// Draws a path. was: the vertices of the same pair's path before a change of the graph.
export async function showPath(vertices, was = []) {
  names = vertices;
  picked = null;
  if (graph === null) return;
  if (graph.placed || !graph.sampled) say(byId("drawing-words"), graph.words ?? hint);
  let drawn = vertices;
  if (graph.sampled) {
    path = before = [];
    near = new Map();
    centre = null;
    forgetStations(graph);
    drawn = await addStations(graph, vertices).catch(() => []);
    if (names !== vertices) return;
  }
  const rows = (list) => list.map((name) => graph.index.get(name)).filter((row) => row !== undefined);
  path = rows(drawn);
  before = rows(was);
  byId("zoom-path").disabled = path.length < 2;
  redraw();
  if (path.length > 1) keepInView(map, graph, [...path, ...before]);
}
