// Decides which vertices of a graph are drawn, all or a sample, and where: at their coordinates if there are any,
// else laid out so that lengths on the screen resemble distances.

import { count, plural } from "./dom.js";
import { ask, fetchFrom, pathOf } from "./service.js";
import { layOut } from "./layout.js";

// The largest graphs that are drawn whole: vertices without coordinates, vertices with them, and edges.
const MOST_VERTICES = 10000;
const MOST_PLACED = 200000;
const MOST_EDGES = 600000;
// Up to ALL_PAIRS vertices the layout uses all distances; above, those between every vertex and PIVOTS pivots.
const ALL_PAIRS = 400;
const PIVOTS = 40;
const PULLS = 60000;
// The number of vertices that are drawn of a graph too large to be drawn whole, and of a path through it.
const SAMPLE = 300;
const SMALL_SAMPLE = 120;
const STATIONS = 50;
const NEIGHBOURS = 3;

export const hint = "Click two vertices to see the path between them, or an edge to change its weight.";
const arrays = { i4: Int32Array, u2: Uint16Array, f4: Float32Array, f8: Float64Array };
const farValues = { i4: 1073741823, u2: 65535 };

/* ---- Distances as wanted lengths ---- */

// Returns a function that gives the distance from the source of a row to the vertex of a column.
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

// Returns the uploaded coordinates, or null if there are none.
async function coordinatesOf({ id, n, coordinates }, vertices) {
  if (n > MOST_PLACED || !(coordinates?.located > 1)) return null;
  const text = await (await fetchFrom(pathOf(id, "/coordinates"))).text();
  const rows = new Map(vertices.map((name, row) => [`${name}`, row]));
  const x = new Float64Array(n).fill(NaN);
  const y = new Float64Array(n).fill(NaN);
  // The header is parsed like the other lines: harmless, as the line of a vertex with that name comes later.
  for (const [, quoted, plain, first, second] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*)),([^,\n]*),([^,\n]*)\n/g)) {
    const row = rows.get(quoted?.replaceAll('""', '"') ?? plain);
    x[row] = Number(first);
    y[row] = Number(second);
  }
  return { x, y, missing: coordinates.missing, onMap: coordinates.system === "degrees" };
}

export async function edgesOf(id, index) {
  const list = await ask(pathOf(id, "/edges"));
  return list.edges.map(([u, v, w]) => [index.get(u), index.get(v), w]);
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
    const missing = places.missing > 0 ? ` ${plural(places.missing, "vertex has", "vertices have")} no coordinates and ${places.missing === 1 ? "is" : "are"} not shown.` : "";
    return { edges, ...places, placed: true, words: `Vertices are drawn at their coordinates.${missing} ${hint}` };
  }
  const n = about.n;
  const sources = spread(n, graphIsSmall(n) ? n : PIVOTS);
  const terms = termsOf(n, sources, await rowsOf(id, sources, vertices, kind));
  return { edges, ...layOut(n, graphIsSmall(n) ? terms : pull(edges, terms)), words: `Vertices are placed so that the distances on the screen are close to the distances in the graph. ${hint}` };
}

// Loads a sample of vertices, spread over the rows, each joined to its nearest vertices.
async function loadSample(id, about, all) {
  const rows = spread(about.n, about.n > MOST_PLACED ? SMALL_SAMPLE : SAMPLE);
  const vertices = rows.map((row) => all[row]);
  const { distances } = await ask(pathOf(id, "/table"), { method: "POST", json: { sources: vertices, destinations: vertices } });
  const places = layOut(rows.length, termsOf(rows.length, rows.map((_, i) => i), (i, j) => distances[i][j]));
  const edges = distances.flatMap((row, i) => row.map((d, j) => [i, j, d])
    .filter(([, j, d]) => d !== null && j !== i).sort((a, b) => a[2] - b[2]).slice(0, NEIGHBOURS));
  const words = `This graph is too large to be drawn whole, so ${count(rows.length)} of its ${count(about.n)} vertices are shown, each connected to the nearest of these vertices. `
    + `The limit for a whole drawing is ${count(MOST_EDGES)} edges and ${count(MOST_VERTICES)} vertices, or ${count(MOST_PLACED)} vertices with coordinates. `
    + "Click two vertices to see the path between them.";
  return { vertices, index: indexOf(vertices), edges, x: [...places.x], y: [...places.y], sampled: true, own: rows.length, words };
}

// Returns a drawing { id, n, directed, vertices, index, edges, x, y, words } with the flags placed (at
// coordinates), onMap (these are in degrees) and sampled.
export async function loadDrawing(id, about, kind) {
  const { vertices } = await ask(pathOf(id, "/vertices"));
  const index = indexOf(vertices);
  const places = about.m > MOST_EDGES ? null : await coordinatesOf(about, vertices);
  const whole = about.m <= MOST_EDGES && (places !== null || about.n <= MOST_VERTICES);
  const made = whole ? await loadWhole(id, about, kind, vertices, places, index) : await loadSample(id, about, vertices);
  return { id, n: about.n, directed: about.directed, vertices, index, ...made };
}

/* ---- Paths through a sample ---- */

// Returns the vertices of a path that are drawn. Vertices missing from the sample are added to it, near the
// vertices of the sample to which their distances are least.
export async function addStations(graph, vertices) {
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

// Removes the vertices that were added to a sample for an earlier path.
export function forgetStations(graph) {
  for (const name of graph.vertices.splice(graph.own)) graph.index.delete(name);
  graph.x.length = graph.y.length = graph.own;
}
