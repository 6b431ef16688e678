// A graph on a canvas: edges, vertices, paths and names, of which only what is visible is painted.

import { colour, viridis } from "./dom.js";
import { placeLabels } from "./labels.js";

const MOST_EDGES = 40000;
// Above this number of vertices only edges are drawn, as the dots would cover them.
const MOST_DOTS = 20000;
// No more names than this are shown at once.
const MOST_NAMES = 60;

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

// Returns whether a line may be visible: false if both ends lie beyond the same side, or an end has no coordinates.
function crosses([x1, y1], [x2, y2], width, height) {
  return Math.max(x1, x2) >= 0 && Math.min(x1, x2) <= width && Math.max(y1, y2) >= 0 && Math.min(y1, y2) <= height;
}

function inside([x, y], width, height) {
  return x >= 0 && x <= width && y >= 0 && y <= height;
}

function paintEdges(context, edges, points, width, height) {
  const visible = edges.filter(([i, j]) => crosses(points[i], points[j], width, height));
  const stride = Math.ceil(visible.length / MOST_EDGES);
  context.strokeStyle = colour("--edge");
  context.lineWidth = 1;
  context.beginPath();
  for (let at = 0; at < visible.length; at += stride || 1) line(context, points[visible[at][0]], points[visible[at][1]]);
  context.stroke();
  return stride > 1;
}

function paintVertices(context, points, visible) {
  const many = visible.length;
  const radius = many > 2000 ? 1 : many > 400 ? 1.7 : many > 100 ? 2.6 : 4;
  context.fillStyle = colour("--soft");
  context.beginPath();
  for (const i of visible) {
    context.moveTo(points[i][0] + radius, points[i][1]);
    context.arc(...points[i], radius, 0, 7);
  }
  context.fill();
}

// What lies within a distance is painted as an area: a broad brush follows the edges, in bands of distance, near
// bands over far ones.
const BANDS = 5;

function paintNear(sheet, points, edges, near) {
  if (near.size === 0) return;
  const bandOf = (i) => Math.min(BANDS - 1, Math.floor(near.get(i) * BANDS));
  const inside = edges.filter(([i, j]) => near.has(i) && near.has(j));
  const lengths = inside.map(([i, j]) => Math.hypot(points[i][0] - points[j][0], points[i][1] - points[j][1])).sort((a, b) => a - b);
  const brush = Math.min(Math.max(1.5 * (lengths[lengths.length >> 1] ?? 8), 10), 80);
  const area = new OffscreenCanvas(sheet.context.canvas.width, sheet.context.canvas.height);
  const context = area.getContext("2d");
  context.scale(area.width / sheet.width, area.height / sheet.height);
  context.lineCap = "round";
  context.lineWidth = brush;
  for (let band = BANDS - 1; band >= 0; band -= 1) {
    context.strokeStyle = viridis(band / (BANDS - 1));
    context.beginPath();
    for (const [i] of near) if (bandOf(i) === band) line(context, points[i], points[i]);
    for (const [i, j] of inside) if (Math.max(bandOf(i), bandOf(j)) === band) line(context, points[i], points[j]);
    context.stroke();
  }
  sheet.context.save();
  sheet.context.globalAlpha = 0.55;
  sheet.context.drawImage(area, 0, 0, sheet.width, sheet.height);
  sheet.context.restore();
}

// Marks the vertex from which the distances are measured.
function paintCentre(context, [x, y]) {
  for (const [style, wide] of [["--panel", 6], ["--text", 2.5]]) {
    context.strokeStyle = colour(style);
    context.lineWidth = wide;
    context.beginPath();
    context.arc(x, y, 9, 0, 7);
    context.moveTo(x - 14, y);
    context.lineTo(x + 14, y);
    context.moveTo(x, y - 14);
    context.lineTo(x, y + 14);
    context.stroke();
  }
}

function paintWalk(context, points, walk, style) {
  context.strokeStyle = context.fillStyle = colour(style.colour);
  context.lineWidth = style.width;
  context.lineJoin = context.lineCap = "round";
  context.setLineDash(style.dash ?? []);
  context.beginPath();
  for (let i = 0; i + 1 < walk.length; i += 1) line(context, points[walk[i]], points[walk[i + 1]]);
  context.stroke();
  context.setLineDash([]);
}

function paintPath(context, points, path, directed) {
  paintWalk(context, points, path, { colour: "--accent", width: 3.5 });
  for (let i = 0; i + 1 < path.length && directed; i += 1) arrow(context, points[path[i]], points[path[i + 1]]);
  context.beginPath();
  for (const i of path) {
    context.moveTo(points[i][0] + 3.5, points[i][1]);
    context.arc(...points[i], 3.5, 0, 7);
  }
  context.fill();
}

// Returns points along the lines of a walk, so close together that no name fits between two of them.
function alongWalk(points, walk, width, height) {
  const all = [];
  for (let k = 0; k + 1 < walk.length; k += 1) {
    const [[x1, y1], [x2, y2]] = [points[walk[k]], points[walk[k + 1]]];
    if (!crosses([x1, y1], [x2, y2], width, height)) continue;
    const parts = Math.min(500, Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 6));
    for (let part = 0; part <= parts; part += 1) all.push([x1 + ((x2 - x1) * part) / parts, y1 + ((y2 - y1) * part) / parts]);
  }
  return all;
}

// Returns points along the arms of the cross that marks the centre.
function alongCross([x, y]) {
  return [-14, -9, -4, 0, 4, 9, 14].flatMap((far) => [[x + far, y], [x, y + far]]);
}

function paintNames({ context, width, height }, points, { vertices, ends, path, visible, centre }) {
  const named = visible.length <= MOST_NAMES ? visible : [];
  const seen = (i) => inside(points[i], width, height);
  const wanted = [...new Set([...ends, ...named])].filter(seen).map((i) => {
    const strong = ends.includes(i);
    context.font = strong ? "600 13px system-ui, sans-serif" : "11px system-ui, sans-serif";
    return { at: points[i], text: `${vertices[i]}`, wide: context.measureText(`${vertices[i]}`).width, strong };
  });
  const cross = points[centre] === undefined ? [] : alongCross(points[centre]);
  const taken = { path: [...alongWalk(points, path, width, height), ...cross], points: named.map((i) => points[i]) };
  for (const { left, bottom, text, strong } of placeLabels(wanted, taken, width, height)) {
    context.font = strong ? "600 13px system-ui, sans-serif" : "11px system-ui, sans-serif";
    context.lineWidth = 4;
    context.strokeStyle = colour("--panel");
    context.fillStyle = colour(strong ? "--text" : "--soft");
    context.strokeText(text, left, bottom - 3);
    context.fillText(text, left, bottom - 3);
  }
}

// Paints a drawing { edges, vertices, directed, points, path, before, edge, picked, near, centre }. Returns whether
// edges were left out.
export function paint(sheet, drawing) {
  const { context, width, height } = sheet;
  const { edges, vertices, directed, points, edge, picked, near, centre } = drawing;
  const placed = (walk) => walk.filter((i) => points[i] !== undefined && Number.isFinite(points[i][0]));
  const [path, before] = [placed(drawing.path), placed(drawing.before)];
  const visible = [...points.keys()].filter((i) => inside(points[i], width, height));
  paintNear(sheet, points, edges, near);
  const cut = paintEdges(context, edges, points, width, height);
  if (visible.length <= MOST_DOTS || edges.length === 0) paintVertices(context, points, visible);
  paintWalk(context, points, before, { colour: "--accent", width: 2, dash: [4, 5] });
  paintPath(context, points, path, directed);
  if (edge !== null) paintWalk(context, points, edge.slice(0, 2), { colour: "--link", width: 5 });
  const ends = [...new Set([...path.slice(0, 1), ...path.slice(-1), ...placed([picked, centre])])];
  context.fillStyle = colour("--accent");
  for (const i of ends) {
    if (i === centre) continue;
    context.beginPath();
    context.arc(...points[i], 6.5, 0, 7);
    context.fill();
  }
  if (placed([centre]).length > 0) paintCentre(context, points[centre]);
  paintNames(sheet, points, { vertices, ends, path, visible, centre });
  return cut;
}
