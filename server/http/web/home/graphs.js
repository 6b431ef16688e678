// Graphs to try: made here, the same each time, so that a second try is answered at once.

// Mulberry32: small, and good enough for streets.
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

// Streets of a town: long ones with short ones between them, of which some are one way, some missing.
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

// Islands of towns with names; two of the islands have no ferry.
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

// People who know their neighbours, and somebody far away now and then.
function acquaintances(n) {
  const random = randomFrom(3);
  const edges = [];
  for (let at = 0; at < n; at += 1) {
    for (const step of [1, 2]) edges.push([at, (at + step) % n, 1]);
    if (random() < 0.1) edges.push([at, Math.floor(random() * n), 1]);
  }
  return JSON.stringify({ n, edges, directed: false });
}

// No way around the work: links everywhere, and weights that leave 16 bits.
function tangle(n) {
  const random = randomFrom(5);
  const arcs = [];
  for (let at = 0; at < n; at += 1) {
    arcs.push([at + 1, ((at + 1) % n) + 1, 1 + (at % 97)]);
    for (let link = 0; link < 4; link += 1) {
      arcs.push([at + 1, Math.floor(random() * n) + 1, 1000000 + Math.floor(random() * 1000)]);
    }
  }
  return dimacs(n, arcs);
}

export const examples = [
  { name: "town", title: "Town", about: "576 crossings, some one-way", file: "town.gr", format: "dimacs", make: () => town(24) },
  { name: "islands", title: "Islands", about: "130 places by name, not all connected", file: "islands.csv", format: "edges", directed: "false", make: islands },
  { name: "acquaintances", title: "Small world", about: "300 people, few steps apart", file: "acquaintances.json", format: "json", make: () => acquaintances(300) },
  { name: "tangle", title: "Tangle", about: "4,000 vertices that take a while", file: "tangle.gr", format: "dimacs", make: () => tangle(4000) },
];
