// The graph as a drawing, where it is small enough to be looked at, with a path on it.

import { byId, colour, keepDrawn, sharpen, say } from "./dom.js";
import { ask, fetchFrom, pathOf, Refusal } from "./service.js";
import { layOut } from "./layout.js";

const MOST_VERTICES = 5000;
const MOST_EDGES = 20000;
// Up to so many vertices all pairs are laid out; beyond, every vertex and some pivots.
const ALL_PAIRS = 400;
const PIVOTS = 40;
const NAMED = 40;
const MARGIN = 22;

const canvas = byId("drawing");
let graph = null;
let path = []; // rows, of these names
let names = [];
let before = []; // rows of the path in the graph that was changed
let edge = null; // the one that was clicked, [i, j, weight]
let picked = null;
let onPair = () => {};
let onEdge = () => {};
let opened = 0;

/* ---- Distances as wanted lengths ---- */

const arrays = { i4: Int32Array, u2: Uint16Array, f4: Float32Array, f8: Float64Array };
const farValues = { i4: 1073741823, u2: 65535 };

// A look at the rows of some sources.
async function rowsOf(id, sources, vertices, kind) {
  if (sources.length === vertices.length) {
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

function place(edges, terms) {
  if (terms.length === 0) return terms;
  const longest = terms.reduce((most, term) => Math.max(most, term.d), 0);
  for (const [i, j, w] of edges) {
    if (i !== j) terms.push({ i, j, d: Math.max(Math.abs(w), longest / 200) });
  }
  return terms;
}

/* ---- Drawing ---- */

function fit(width, height) {
  const { x, y } = graph;
  const span = (list) => [Math.min(...list), Math.max(...list)];
  const [left, right] = span(x);
  const [top, bottom] = span(y);
  const scale = Math.min((width - 2 * MARGIN) / (right - left || 1), (height - 2 * MARGIN) / (bottom - top || 1));
  return (i) => [
    width / 2 + (x[i] - (left + right) / 2) * scale,
    height / 2 + (y[i] - (top + bottom) / 2) * scale,
  ];
}

function line(context, from, to) {
  context.moveTo(...from);
  context.lineTo(...to);
}

function arrow(context, [x1, y1], [x2, y2]) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2];
  if (Math.hypot(x2 - x1, y2 - y1) < 14) return;
  context.beginPath();
  context.moveTo(mx + 6 * Math.cos(angle), my + 6 * Math.sin(angle));
  for (const turn of [2.5, -2.5]) context.lineTo(mx + 6 * Math.cos(angle + turn), my + 6 * Math.sin(angle + turn));
  context.fill();
}

function drawEdges(context, at) {
  context.strokeStyle = colour("--edge");
  context.lineWidth = 1;
  context.beginPath();
  for (const [i, j] of graph.edges) line(context, at(i), at(j));
  context.stroke();
}

function drawVertices(context, at) {
  const radius = graph.vertices.length > 2000 ? 1 : graph.vertices.length > 400 ? 1.7 : graph.vertices.length > 100 ? 2.6 : 4;
  context.fillStyle = colour("--soft");
  for (let i = 0; i < graph.vertices.length; i += 1) {
    context.beginPath();
    context.arc(...at(i), radius, 0, 7);
    context.fill();
  }
}

function label(context, [x, y], text, width) {
  const wide = context.measureText(text).width;
  const left = x + 8 + wide > width ? x - 8 - wide : x + 8;
  context.lineWidth = 4;
  context.strokeStyle = colour("--panel");
  context.strokeText(text, left, y + 4);
  context.fillText(text, left, y + 4);
}

function drawBefore(context, at) {
  context.strokeStyle = colour("--accent");
  context.lineWidth = 2;
  context.setLineDash([4, 5]);
  context.beginPath();
  for (let i = 0; i + 1 < before.length; i += 1) line(context, at(before[i]), at(before[i + 1]));
  context.stroke();
  context.setLineDash([]);
}

function drawEdge(context, at) {
  if (edge === null) return;
  context.strokeStyle = colour("--link");
  context.lineWidth = 5;
  context.beginPath();
  line(context, at(edge[0]), at(edge[1]));
  context.stroke();
}

function drawPath(context, at) {
  context.strokeStyle = context.fillStyle = colour("--accent");
  context.lineWidth = 3.5;
  context.lineJoin = context.lineCap = "round";
  context.beginPath();
  for (let i = 0; i + 1 < path.length; i += 1) line(context, at(path[i]), at(path[i + 1]));
  context.stroke();
  for (let i = 0; i + 1 < path.length && graph.directed; i += 1) arrow(context, at(path[i]), at(path[i + 1]));
  for (const i of path) {
    context.beginPath();
    context.arc(...at(i), 3.5, 0, 7);
    context.fill();
  }
}

function drawEnds(context, at, width) {
  context.font = "600 13px system-ui, sans-serif";
  const ends = path.length > 0 ? [path[0], path[path.length - 1]] : [];
  for (const i of new Set(picked !== null ? [...ends, picked] : ends)) {
    context.fillStyle = colour("--accent");
    context.beginPath();
    context.arc(...at(i), 6.5, 0, 7);
    context.fill();
    context.fillStyle = colour("--text");
    label(context, at(i), `${graph.vertices[i]}`, width);
  }
}

function redraw() {
  if (graph === null || canvas.clientWidth === 0) return;
  const { context, width, height } = sharpen(canvas);
  const at = fit(width, height);
  graph.at = at;
  drawEdges(context, at);
  drawVertices(context, at);
  if (graph.vertices.length <= NAMED) {
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = colour("--soft");
    graph.vertices.forEach((name, i) => label(context, at(i), `${name}`, width));
  }
  drawBefore(context, at);
  drawPath(context, at);
  drawEdge(context, at);
  drawEnds(context, at, width);
}

/* ---- Pointer ---- */

function nearest(event) {
  if (graph?.at === undefined) return null;
  const box = canvas.getBoundingClientRect();
  let best = null;
  let least = 18;
  for (let i = 0; i < graph.vertices.length; i += 1) {
    const [x, y] = graph.at(i);
    const far = Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);
    if (far < least) [least, best] = [far, i];
  }
  return best;
}

// The edge beneath the pointer, in pixels to the nearest point of its line.
function nearestEdge(event) {
  if (graph?.at === undefined) return null;
  const box = canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  let best = null;
  let least = 8;
  for (const one of graph.edges) {
    const [[x1, y1], [x2, y2]] = [graph.at(one[0]), graph.at(one[1])];
    const [dx, dy] = [x2 - x1, y2 - y1];
    const part = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
    const far = Math.hypot(x1 + part * dx - x, y1 + part * dy - y);
    if (far < least) [least, best] = [far, one];
  }
  return best;
}

export function edgeOf(source, target) {
  if (graph === null || !graph.directed) return undefined;
  const [i, j] = [graph.index.get(source), graph.index.get(target)];
  return graph.edges.find((one) => one[0] === i && one[1] === j)?.[2];
}

function pick(event) {
  const found = nearest(event);
  edge = found === null ? nearestEdge(event) : null;
  if (edge !== null) {
    const [source, target] = [graph.vertices[edge[0]], graph.vertices[edge[1]]];
    onEdge(source, target, edge[2], edgeOf(target, source));
    redraw();
  }
  if (found === null) return;
  if (picked === null) {
    picked = found;
    path = [];
    say(byId("drawing-words"), `From ${graph.vertices[found]}: click where to.`);
    redraw();
  } else {
    const from = picked;
    picked = null;
    onPair(graph.vertices[from], graph.vertices[found]);
  }
}

export function startDrawing(pair, change) {
  onPair = pair;
  onEdge = change;
  keepDrawn(canvas, redraw);
  canvas.addEventListener("click", pick);
  canvas.addEventListener("pointermove", (event) => {
    const found = nearest(event);
    canvas.title = found === null ? "" : `${graph.vertices[found]}`;
    canvas.classList.toggle("over", found !== null || nearestEdge(event) !== null);
  });
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
  const edges = await edgesOf(id, graph.index);
  if (turn !== opened) return;
  graph = { ...graph, id, edges };
  redraw();
}

async function load(id, about, kind) {
  const { vertices } = await ask(pathOf(id, "/vertices"));
  const index = new Map(vertices.map((name, row) => [name, row]));
  const edges = await edgesOf(id, index);
  const n = about.n;
  const chosen = n <= ALL_PAIRS ? n : PIVOTS;
  const sources = Array.from({ length: chosen }, (_, i) => Math.floor((i * n) / chosen));
  const terms = termsOf(n, sources, await rowsOf(id, sources, vertices, kind));
  const places = layOut(n, n <= ALL_PAIRS ? terms : place(edges, terms));
  return { id, vertices, index, edges, directed: about.directed, ...places };
}

export async function openDrawing(id, about, kind) {
  const turn = ++opened;
  edge = null;
  if (graph !== null && about.parent === graph.id && about.n === graph.vertices.length) {
    await follow(id);
    return;
  }
  graph = null;
  path = names = before = [];
  picked = null;
  if (about.n < 2 || about.n > MOST_VERTICES || about.m > MOST_EDGES) {
    showWords(about.n < 2 ? "" : "This graph is too large for a drawing; paths are listed.");
    return;
  }
  showWords("Laying out the drawing.");
  try {
    const made = await load(id, about, kind);
    if (turn !== opened) return;
    graph = made;
    path = names.map((name) => graph.index.get(name));
    showWords("Lengths are like distances. Click two vertices for the path between them, or an edge to change its weight.");
    redraw();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (turn === opened) showWords(`There is no drawing: ${error.message}`);
  }
}

// was: the vertices of the path before a change.
export function showPath(vertices, was = []) {
  names = vertices;
  if (graph === null) return;
  path = vertices.map((name) => graph.index.get(name));
  before = was.map((name) => graph.index.get(name));
  picked = null;
  redraw();
}
