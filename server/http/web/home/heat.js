// The heat map: cells that the service computes from blocks of the matrix, and zooming into a block.

import { byId, colour, distance, rough, percent, count, keepDrawn, sharpen, say, viridis } from "./dom.js";
import { ask, query, pathOf } from "./service.js";
import { guard } from "./problem.js";

const measures = { mean: "mean distance", min: "smallest distance", max: "largest distance", unreachable: "unreachable" };
const CELLS = 128;
const hint = "Point at a cell to read its value. Click, or drag over a block, to zoom in.";

const canvas = byId("heat");
const card = byId("heat-card");
let graph = null;
let map = null; // the answer
let blocks = []; // enclosing blocks, to go back to
let cursor = null; // cell { row, column }
let drag = null;
let onPair = () => {};
let loads = 0;

/* ---- Cells ---- */

function begin(axis, cell) {
  return axis.first + Math.floor((cell * (axis.stop - axis.first)) / axis.vertices.length);
}

function size() {
  return { rows: map.rows.vertices.length, columns: map.cols.vertices.length };
}

function measure() {
  return byId("measure").value;
}

function valueAt(row, column) {
  return map.cells[row][measure()][column];
}

function range() {
  if (measure() === "unreachable") return [0, 1];
  let low = Infinity;
  let high = -Infinity;
  for (const row of map.cells) {
    for (const value of row[measure()]) {
      if (value === null) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? [low, high] : [0, 0];
}

function span(axis, cell) {
  const from = begin(axis, cell);
  const to = begin(axis, cell + 1) - 1;
  const name = `${axis.vertices[cell]}`;
  return from === to ? `vertex ${name}` : `${count(to - from + 1)} vertices starting at ${name}`;
}

function describe({ row, column }) {
  const cell = map.cells[row];
  const head = `From ${span(map.rows, row)} to ${span(map.cols, column)}: `;
  const single = begin(map.rows, row + 1) - begin(map.rows, row) === 1
    && begin(map.cols, column + 1) - begin(map.cols, column) === 1;
  if (cell.mean[column] === null) return `${head}unreachable`;
  if (single) return `${head}${distance(cell.min[column])}`;
  return `${head}mean ${rough(cell.mean[column])}, ${distance(cell.min[column])} to ${distance(cell.max[column])}, ${percent(cell.unreachable[column])} unreachable`;
}

/* ---- Drawing ---- */

function geometry() {
  const { rows, columns } = size();
  return { width: canvas.clientWidth / columns, height: canvas.clientHeight / rows };
}

function drawCells(context, width, height) {
  const { rows, columns } = size();
  const [low, high] = range();
  const x = (column) => Math.round((column * width) / columns);
  const y = (row) => Math.round((row * height) / rows);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const value = valueAt(row, column);
      if (value === null) continue;
      context.fillStyle = viridis(high > low ? (value - low) / (high - low) : 0);
      context.fillRect(x(column), y(row), x(column + 1) - x(column), y(row + 1) - y(row));
    }
  }
}

function frame(context, first, last, cell) {
  const left = Math.min(first.column, last.column) * cell.width;
  const top = Math.min(first.row, last.row) * cell.height;
  const width = (Math.abs(last.column - first.column) + 1) * cell.width;
  const height = (Math.abs(last.row - first.row) + 1) * cell.height;
  for (const [style, line] of [["black", 4], ["white", 2]]) {
    context.strokeStyle = style;
    context.lineWidth = line;
    context.strokeRect(left, top, width, height);
  }
}

function redraw() {
  if (map === null || canvas.clientWidth === 0) return;
  const { context, width, height } = sharpen(canvas);
  context.fillStyle = colour("--none");
  context.fillRect(0, 0, width, height);
  if (map.cells.length === 0) return;
  drawCells(context, width, height);
  const cell = geometry();
  if (drag !== null) frame(context, drag.from, drag.to, cell);
  else if (cursor !== null && document.activeElement === canvas) frame(context, cursor, cursor, cell);
}

function drawScale() {
  const scale = byId("heat-scale");
  const context = scale.getContext("2d");
  for (let x = 0; x < scale.width; x += 1) {
    context.fillStyle = viridis(x / (scale.width - 1));
    context.fillRect(x, 0, 1, scale.height);
  }
  const [low, high] = range();
  const words = measure() === "unreachable" ? percent : rough;
  say(byId("heat-low"), words(low));
  say(byId("heat-high"), words(high));
}

// Labels both ends of an axis with their vertices.
function nameAxis(axis, { vertices, first, stop }) {
  say(byId(`heat-${axis}-first`), vertices.length > 0 ? `${vertices[0]}` : "");
  // The service names each cell by its first vertex. Only in a heat map with one vertex a cell is the name of
  // the last cell also the last vertex.
  const isLast = vertices.length === stop - first;
  say(byId(`heat-${axis}-last`), vertices.length > 1 ? `${vertices.at(-1)}${isLast ? "" : " …"}` : "");
}

function showWords() {
  const { rows, columns } = size();
  const whole = map.rows.first === 0 && map.cols.first === 0 && map.rows.stop === map.n && map.cols.stop === map.n;
  const block = whole ? `All ${count(map.n)} × ${count(map.n)} distances`
    : `Rows ${count(map.rows.first)} to ${count(map.rows.stop - 1)}, columns ${count(map.cols.first)} to ${count(map.cols.stop - 1)}`;
  say(byId("heat-block"), `${block}${map.sampled ? ". Each cell is estimated from some of its distances." : ""}`);
  nameAxis("to", map.cols);
  nameAxis("from", map.rows);
  byId("heat-out").disabled = byId("heat-whole").disabled = blocks.length === 0;
  const [low, high] = range();
  canvas.setAttribute("aria-label", `Heat map of ${rows} by ${columns} cells, ${measures[measure()]} ${rough(low)} to ${rough(high)}. Arrow keys move, Enter zooms in, Escape goes back.`);
}

function show() {
  redraw();
  drawScale();
  showWords();
}

/* ---- Blocks ---- */

async function load(block) {
  const load = ++loads;
  const path = query(pathOf(graph, "/heatmap"), { ...block, size: CELLS });
  const answer = await guard(byId("heat-problem"), () => ask(path, { told: block.rows !== undefined }).catch((error) => {
    if (error.document?.code === "NotAMatrix") return null;
    throw error;
  }));
  if (answer === undefined || load !== loads) return false;
  // The answer is null for a hierarchy that is too large for a heat map.
  card.hidden = answer === null;
  if (answer === null) return false;
  map = answer;
  map.block = block;
  cursor = null;
  say(byId("heat-cell"), hint);
  return true;
}

async function enter(first, last) {
  const cut = (axis, from, to) => {
    const start = begin(axis, Math.min(from, to));
    return `${start}:${Math.max(start + 1, begin(axis, Math.max(from, to) + 1))}`;
  };
  const left = map.block;
  const block = { rows: cut(map.rows, first.row, last.row), cols: cut(map.cols, first.column, last.column) };
  blocks.push(left);
  if (!(await load(block))) blocks.pop();
  show();
}

async function leave(all) {
  if (blocks.length === 0) return;
  const block = all ? blocks[0] : blocks[blocks.length - 1];
  blocks = all ? [] : blocks.slice(0, -1);
  await load(block);
  show();
}

// Queries the pair if a cell is a single pair of vertices; else zooms in around it.
function choose(at) {
  const { rows, columns } = size();
  if (rows === map.rows.stop - map.rows.first && columns === map.cols.stop - map.cols.first) {
    onPair(map.rows.vertices[at.row], map.cols.vertices[at.column]);
    return;
  }
  const around = (place, cells) => {
    const reach = Math.max(1, Math.ceil(cells / 4));
    const from = Math.min(Math.max(0, place - (reach >> 1)), Math.max(0, cells - reach));
    return [from, Math.min(cells, from + reach) - 1];
  };
  const [top, bottom] = around(at.row, rows);
  const [left, right] = around(at.column, columns);
  enter({ row: top, column: left }, { row: bottom, column: right });
}

/* ---- Pointer and keys ---- */

function cellAt(event) {
  const box = canvas.getBoundingClientRect();
  const { rows, columns } = size();
  const clamp = (value, count) => Math.min(Math.max(0, Math.floor(value)), count - 1);
  return {
    row: clamp(((event.clientY - box.top) / box.height) * rows, rows),
    column: clamp(((event.clientX - box.left) / box.width) * columns, columns),
  };
}

function same(a, b) {
  return a.row === b.row && a.column === b.column;
}

function listen() {
  canvas.addEventListener("pointerdown", (event) => {
    if (!map?.cells.length || event.button !== 0) return;
    drag = { from: cellAt(event), to: cellAt(event) };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!map?.cells.length) return;
    const at = cellAt(event);
    say(byId("heat-cell"), describe(at));
    if (drag !== null) {
      drag.to = at;
      redraw();
    }
  });
  canvas.addEventListener("pointerup", () => {
    const made = drag;
    drag = null;
    if (made === null) return;
    if (same(made.from, made.to)) choose(made.from);
    else enter(made.from, made.to);
  });
  canvas.addEventListener("pointercancel", () => { drag = null; redraw(); });
  canvas.addEventListener("focus", redraw);
  canvas.addEventListener("blur", redraw);
  canvas.addEventListener("keydown", press);
}

const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function press(event) {
  if (!map?.cells.length) return;
  const { rows, columns } = size();
  if (event.key in steps) {
    const [down, right] = steps[event.key];
    const far = event.shiftKey ? 10 : 1;
    const at = cursor ?? { row: 0, column: 0 };
    cursor = cursor === null ? at : {
      row: Math.min(Math.max(0, at.row + down * far), rows - 1),
      column: Math.min(Math.max(0, at.column + right * far), columns - 1),
    };
    say(byId("heat-cell"), describe(cursor));
    redraw();
  } else if (event.key === "Enter" && cursor !== null) {
    choose(cursor);
  } else if (event.key === "Escape" || event.key === "Backspace") {
    leave(false);
  } else {
    return;
  }
  event.preventDefault();
}

export function startHeat(pair) {
  onPair = pair;
  listen();
  keepDrawn(canvas, redraw);
  byId("measure").addEventListener("change", () => map !== null && show());
  byId("heat-out").addEventListener("click", () => leave(false));
  byId("heat-whole").addEventListener("click", () => leave(true));
}

// rows: rows of a hierarchy that are computed for the heat map; 0 for a matrix.
export async function openHeat(id, rows) {
  graph = id;
  card.hidden = false;
  if (rows > 0) say(byId("heat-block"), `Computing ${count(rows)} rows of distances from the hierarchy.`);
  map = null;
  blocks = [];
  if (await load({})) show();
}
