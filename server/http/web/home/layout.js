// Lays out vertices so that lengths on the screen resemble distances in the graph: minimises stress
// pair by pair (Zheng, Pawar, Goodman: Graph Drawing by Stochastic Gradient Descent, 2018).

const ROUNDS = 40;

// terms: pairs { i, j, d } of vertices with the length d > 0 that they should have on the screen.
function lower(x, y, term, rate) {
  const dx = x[term.i] - x[term.j];
  const dy = y[term.i] - y[term.j];
  const length = Math.hypot(dx, dy) || 1e-9;
  const step = (Math.min(1, rate / (term.d * term.d)) * (length - term.d)) / 2 / length;
  x[term.i] -= step * dx;
  y[term.i] -= step * dy;
  x[term.j] += step * dx;
  y[term.j] += step * dy;
}

function mixed(list, random) {
  for (let at = list.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [list[at], list[other]] = [list[other], list[at]];
  }
  return list;
}

function generator(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

// Rotates the drawing so that it is wider than high.
function lie(x, y) {
  const n = x.length;
  const mean = (list) => list.reduce((sum, one) => sum + one, 0) / n;
  const mx = mean(x);
  const my = mean(y);
  let xx = 0;
  let xy = 0;
  let yy = 0;
  for (let i = 0; i < n; i += 1) {
    xx += (x[i] - mx) ** 2;
    xy += (x[i] - mx) * (y[i] - my);
    yy += (y[i] - my) ** 2;
  }
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  for (let i = 0; i < n; i += 1) {
    [x[i], y[i]] = [cosine * (x[i] - mx) + sine * (y[i] - my), cosine * (y[i] - my) - sine * (x[i] - mx)];
  }
}

export function layOut(n, terms) {
  const random = generator(12345);
  const longest = terms.reduce((most, term) => Math.max(most, term.d), 1e-9);
  const shortest = terms.reduce((least, term) => Math.min(least, term.d), longest);
  const x = Float64Array.from({ length: n }, () => random() * longest);
  const y = Float64Array.from({ length: n }, () => random() * longest);
  const first = longest * longest;
  const last = 0.1 * shortest * shortest;
  for (let round = 0; round < ROUNDS; round += 1) {
    const rate = first * (last / first) ** (round / (ROUNDS - 1));
    for (const term of mixed(terms, random)) lower(x, y, term, rate);
  }
  lie(x, y);
  return { x, y };
}
