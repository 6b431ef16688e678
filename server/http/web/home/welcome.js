// The picture at the top of the page: a small graph, solved in the browser, shows what the service does.

import { byId, draw, plural, say, viridis } from "./dom.js";
import { randomFrom } from "./graphs.js";

const COLUMNS = 6;
const ROWS = 4;
const COUNT = COLUMNS * ROWS;

let places = [];
let streets = [];
let distances = [];
let chosen = [0, COUNT - 1];

function build() {
  const random = randomFrom(21);
  places = Array.from({ length: COUNT }, (_, at) => [
    30 + (at % COLUMNS) * 60 + (random() - 0.5) * 26,
    30 + Math.floor(at / COLUMNS) * 60 + (random() - 0.5) * 26,
  ]);
  const join = (u, v, always) => {
    if (!always && random() < 0.3) return;
    streets.push([u, v, Math.round(Math.hypot(places[u][0] - places[v][0], places[u][1] - places[v][1]))]);
  };
  for (let at = 0; at < COUNT; at += 1) {
    if (at % COLUMNS + 1 < COLUMNS) join(at, at + 1, true);
    if (at + COLUMNS < COUNT) join(at, at + COLUMNS, at % COLUMNS === 0);
  }
}

// The textbook form of Floyd-Warshall.
function solve() {
  distances = places.map((_, i) => places.map((_, j) => (i === j ? 0 : Infinity)));
  for (const [u, v, w] of streets) distances[u][v] = distances[v][u] = w;
  for (let k = 0; k < COUNT; k += 1) {
    for (let i = 0; i < COUNT; i += 1) {
      for (let j = 0; j < COUNT; j += 1) {
        distances[i][j] = Math.min(distances[i][j], distances[i][k] + distances[k][j]);
      }
    }
  }
}

// From each place the path takes a street that is as long as the distance to the target that it saves.
function pathOf(source, target) {
  const path = [source];
  let at = source;
  while (at !== target) {
    const leads = ([u, v, w]) => (u === at && distances[v][target] + w === distances[at][target])
      || (v === at && distances[u][target] + w === distances[at][target]);
    const [u, v] = streets.find(leads);
    at = u === at ? v : u;
    path.push(at);
  }
  return path;
}

function line(u, v, name) {
  const [[x1, y1], [x2, y2]] = [places[u], places[v]];
  return draw("line", { x1, y1, x2, y2, class: name });
}

function show() {
  const [source, target] = chosen;
  const path = target === undefined ? [source] : pathOf(source, target);
  byId("sample-town").replaceChildren(
    ...streets.map(([u, v]) => line(u, v, "street")),
    ...path.slice(1).map((v, at) => line(path[at], v, "walk")),
    ...places.map(([cx, cy], at) => draw("circle", {
      cx, cy, r: at === source || at === target ? 9 : 6,
      class: path.includes(at) ? "on" : "", onclick: () => choose(at),
    }, draw("title", {}, `Crossing ${at + 1}`))),
  );
  const words = target === undefined ? `From ${source + 1}: click another crossing.`
    : `From ${source + 1} to ${target + 1}: ${distances[source][target]}, over ${plural(path.length - 1, "street")}.`;
  byId("sample-town").setAttribute("aria-label", `A graph of ${COUNT} crossings. ${words}`);
  say(byId("sample-words"), words);
}

function choose(at) {
  chosen = chosen.length === 1 ? [chosen[0], at] : [at];
  show();
}

export function startWelcome() {
  build();
  solve();
  const farthest = Math.max(...distances.flat());
  const context = byId("sample-matrix").getContext("2d");
  distances.forEach((row, i) => row.forEach((distance, j) => {
    context.fillStyle = viridis(distance / farthest);
    context.fillRect(j, i, 1, 1);
  }));
  const random = randomFrom(4);
  byId("sample-next").addEventListener("click", () => {
    const source = Math.floor(random() * COUNT);
    chosen = [source, (source + 1 + Math.floor(random() * (COUNT - 1))) % COUNT];
    show();
  });
  show();
}
