// Statistics of a whole matrix: some figures, and a histogram of the distances.

import { byId, make, draw, count, plural, distance, rough, percent } from "./dom.js";
import { ask, pathOf } from "./service.js";
import { guard } from "./problem.js";

const WIDTH = 440;
const HEIGHT = 210;
const BOTTOM = 26;
const TOP = 20;

// Cuts empty bins off the end: there are some if the width of a bin was rounded up to a whole number.
function filled(counts) {
  let last = counts.length;
  while (last > 1 && counts[last - 1] === 0) last -= 1;
  return counts.slice(0, last);
}

function bars({ min, bin_width: width, counts }) {
  const used = filled(counts);
  const most = Math.max(...used);
  const step = WIDTH / used.length;
  const height = HEIGHT - BOTTOM - TOP;
  return used.map((value, index) => {
    const tall = most > 0 ? (value / most) * height : 0;
    const from = min + index * width;
    return draw("rect", { x: index * step + 0.5, y: TOP + height - tall, width: Math.max(1, step - 1), height: tall, class: "bar" },
      draw("title", {}, `${rough(from)} to ${rough(from + width)}: ${count(value)} pairs`));
  });
}

function axis({ min, bin_width: width, counts }) {
  const end = min + filled(counts).length * width;
  const base = HEIGHT - BOTTOM;
  const places = [0, 0.25, 0.5, 0.75, 1];
  const anchor = (part) => (part === 0 ? "start" : part === 1 ? "end" : "middle");
  return [
    draw("line", { x1: 0, x2: WIDTH, y1: base, y2: base, class: "axis" }),
    ...places.map((part) => draw("text", { x: part * WIDTH, y: base + 18, "text-anchor": anchor(part) },
      rough(Number((min + part * (end - min)).toPrecision(3))))),
    draw("text", { x: 0, y: 12 }, `tallest bar: ${plural(Math.max(...counts), "pair")}`),
  ];
}

function histogram(stats) {
  if (stats.histogram === null) return make("p", { class: "soft" }, "No vertex reaches another vertex.");
  const label = `Histogram of ${count(stats.reachable_pairs)} distances from ${distance(stats.histogram.min)} to ${distance(stats.diameter)}, mean ${rough(stats.mean_distance)}`;
  return draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, class: "histogram" },
    bars(stats.histogram), axis(stats.histogram));
}

function figures(stats) {
  const pairs = stats.n * (stats.n - 1);
  const shown = (value) => (value === null ? "none" : distance(value));
  return [
    ["Diameter", shown(stats.diameter)],
    ["Radius", shown(stats.radius)],
    ["Mean distance", stats.mean_distance === null ? "none" : rough(stats.mean_distance)],
    [`Reachable pairs${pairs > 0 ? `, ${percent(stats.reachable_pairs / pairs)}` : ""}`, count(stats.reachable_pairs)],
  ].map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
}

// rows: the rows that must be computed first if the result is a hierarchy; 0 for a matrix.
export async function openStatistics(graph, rows) {
  byId("figures").replaceChildren();
  byId("histogram").replaceChildren(rows > 0
    ? make("p", { class: "soft" }, `Computing ${count(rows)} rows of distances from the hierarchy.`) : "");
  const stats = await guard(byId("stats-problem"), () => ask(pathOf(graph, "/stats")).catch((error) => {
    if (error.document?.code === "NotAMatrix") return null;
    throw error;
  }));
  if (stats === undefined) {
    byId("histogram").replaceChildren();
    return;
  }
  if (stats === null) {
    byId("histogram").replaceChildren(make("p", { class: "soft" }, "This graph is too large for statistics over all pairs. Queries for distances, paths and nearby vertices are answered immediately from the hierarchy of the graph."));
    return;
  }
  byId("figures").replaceChildren(...figures(stats));
  byId("histogram").replaceChildren(histogram(stats));
}
