// Example graphs. They are generated with fixed seeds, so that the service answers a repeated upload from its
// store.

// Mulberry32, a random number generator of a few lines whose quality suffices for street plans.
export function randomFrom(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function dimacs(n, arcs) {
  return `p sp ${n} ${arcs.length}\n${arcs.map(([u, v, w]) => `a ${u} ${v} ${w}\n`).join("")}`;
}

// A town of long streets joined by short ones; some of the short ones are one-way, some are missing.
function town(side) {
  const random = randomFrom(7);
  const arcs = [];
  const street = (u, v, sure) => {
    const length = 60 + Math.floor(random() * 120);
    if (!sure && random() < 0.25) return;
    arcs.push([u, v, length]);
    if (sure || random() > 0.25) arcs.push([v, u, length]);
  };
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column < side; column += 1) {
      const at = row * side + column + 1;
      if (column + 1 < side) street(at, at + 1, true);
      if (row + 1 < side) street(at, at + side, column === 0 || column === side - 1);
    }
  }
  return dimacs(side * side, arcs);
}

// Named towns on several islands, two of which no ferry reaches.
function islands() {
  const random = randomFrom(11);
  const lines = ["from,to,time"];
  const joined = new Set();
  const join = (from, to, time) => {
    if (from === to || joined.has(`${from},${to}`) || joined.has(`${to},${from}`)) return;
    joined.add(`${from},${to}`);
    lines.push(`${from},${to},${time}`);
  };
  const letters = ["Alder", "Birch", "Cedar", "Dogwood", "Elm"];
  letters.forEach((island, index) => {
    const size = 14 + 6 * index;
    for (let at = 1; at < size; at += 1) {
      join(`${island} ${at + 1}`, `${island} ${1 + Math.floor(random() * at)}`, 5 + Math.floor(random() * 20));
      if (random() < 0.5) {
        join(`${island} ${1 + at}`, `${island} ${1 + Math.floor(random() * size)}`, 10 + Math.floor(random() * 30));
      }
    }
    if (index > 0 && index < 4) join(`${letters[index - 1]} 1`, `${island} 1`, 90 + 10 * index);
  });
  return `${lines.join("\n")}\n`;
}

// A social network: people know their neighbours and, now and then, somebody far away.
function acquaintances(n) {
  const random = randomFrom(3);
  const edges = [];
  for (let at = 0; at < n; at += 1) {
    for (const step of [1, 2]) edges.push([at, (at + step) % n, 1]);
    if (random() < 0.1) edges.push([at, Math.floor(random() * n), 1]);
  }
  return JSON.stringify({ n, edges, directed: false });
}

// Returns all vertices that paths from start reach.
function reachedFrom(start, arcs) {
  const next = new Map();
  for (const [u, v] of arcs) next.set(u, [...(next.get(u) ?? []), v]);
  const found = new Set([start]);
  // Iterating over a Set also visits elements that are added during the loop.
  for (const at of found) for (const to of next.get(at) ?? []) found.add(to);
  return found;
}

// Returns the arcs between vertices that can be reached from the start and can reach it.
function strong(start, arcs) {
  const [out, back] = [reachedFrom(start, arcs), reachedFrom(start, arcs.map(([u, v]) => [v, u]))];
  return arcs.filter((arc) => arc.slice(0, 2).every((one) => out.has(one) && back.has(one)));
}

// A city with a river: streets are slow, avenues and the ring road are fast, and only avenues have
// bridges. Two files: travel times in seconds, and coordinates in metres.
function city(columns, rows) {
  const random = randomFrom(13);
  const block = 110;
  const places = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      places.push([(column + (random() - 0.5) * 0.7) * block, (row + (random() - 0.5) * 0.7) * block]);
    }
  }
  const [middleX, middleY] = [(columns * block) / 2, (rows * block) / 2];
  const river = (x) => middleY * 0.8 + 420 * Math.sin(x / 1100) + 160 * Math.sin(x / 370);
  const isWater = ([x, y]) => Math.abs(y - river(x)) < 75;
  const bank = ([x, y]) => y > river(x);
  const away = ([x, y]) => Math.hypot((x - middleX) / middleX, (y - middleY) / middleY);
  const isBuilt = (place) => away(place) < 0.97 + 0.05 * Math.sin(5 * Math.atan2(place[1] - middleY, place[0] - middleX));
  const onRing = (place) => Math.abs(away(place) - 0.6) < 0.02;
  const arcs = [];
  const street = (u, v, avenue) => {
    if (!isBuilt(places[u]) || !isBuilt(places[v])) return;
    const bridge = isWater(places[u]) || isWater(places[v]) || bank(places[u]) !== bank(places[v]);
    if (bridge && !avenue) return;
    const fast = onRing(places[u]) && onRing(places[v]);
    if (!fast && !avenue && random() < 0.22) return;
    const length = Math.hypot(places[u][0] - places[v][0], places[u][1] - places[v][1]);
    const time = Math.max(1, Math.round(length / (fast ? 22 : avenue ? 14 : 7)));
    arcs.push([u + 1, v + 1, time]);
    if (fast || avenue || random() > 0.15) arcs.push([v + 1, u + 1, time]);
  };
  for (let at = 0; at < places.length; at += 1) {
    const [column, row] = [at % columns, Math.floor(at / columns)];
    if (column + 1 < columns) street(at, at + 1, row % 11 === 5);
    if (row + 1 < rows) street(at, at + columns, column % 13 === 6);
  }
  // Crossings in the river have no street. Crossings that a driver cannot reach, or cannot leave, are dropped too.
  const roads = strong((rows >> 2) * columns + (columns >> 1), arcs);
  const numbers = new Map([...new Set(roads.flatMap(([u, v]) => [u, v]))].sort((a, b) => a - b).map((old, at) => [old, at + 1]));
  const lines = [...numbers].map(([old, at]) => `${at},${places[old - 1].map(Math.round).join(",")}\n`);
  return [dimacs(numbers.size, roads.map(([u, v, w]) => [numbers.get(u), numbers.get(v), w])), `vertex,x,y\n${lines.join("")}`];
}

export const examples = [
  { name: "city", title: "City", about: "2,600 crossings on a map, a river and its bridges", files: ["city.gr", "city.csv"], format: "dimacs", make: () => city(76, 50) },
  { name: "town", title: "Town", about: "576 crossings, some one-way streets", files: ["town.gr"], format: "dimacs", make: () => [town(24)] },
  { name: "islands", title: "Islands", about: "130 named places, not all connected", files: ["islands.csv"], format: "edges", directed: "false", make: () => [islands()] },
  { name: "small-world", title: "Small world", about: "300 people, a few steps apart", files: ["small-world.json"], format: "json", make: () => [acquaintances(300)] },
];
