// The stored graphs: searched by name, opened, deleted.

import { byId, make, say, bytes, count, plural, age } from "./dom.js";
import { ask, bus, pathOf, isLocked, isGone } from "./service.js";
import { guard } from "./problem.js";

const SHOWN = 20;
// Only the newest graphs are searched; an older graph opens by its full name.
const LOADED = 2000;

let graphs = [];
let cut = false;
let loading = null;
let stale = false;
let onOpen = () => {};
let onDeleted = () => {};

function titleOf(graph) {
  return graph.names[0] ?? graph.id.slice(0, 12);
}

function wordsOf(graph) {
  const words = [
    plural(graph.n, "vertex", "vertices"), plural(graph.m, "edge"), bytes(graph.bytes),
    `added ${age(graph.created)}`,
  ];
  if (graph.names.length > 1) words.push(`also ${graph.names.slice(1, 4).join(", ")}${graph.names.length > 4 ? ", ..." : ""}`);
  if (graph.result === null) words.push("not solved");
  return words.join(" · ");
}

function row(graph) {
  const title = titleOf(graph);
  const problem = make("div");
  const sure = make("div", { class: "line", hidden: true },
    make("span", { class: "words" }, "Delete the graph and its result?"),
    make("button", { type: "button", class: "yes", onclick: () => remove(graph, problem) }, "Delete"),
    make("button", { type: "button", onclick: () => { sure.hidden = true; begin.focus(); } }, "Keep"));
  const begin = make("button", {
    type: "button", "aria-label": `Delete ${title}`,
    onclick: () => { sure.hidden = false; sure.querySelector(".yes").focus(); },
  }, "Delete");
  return make("li", { class: "entry", "data-graph": graph.id },
    make("div", { class: "line" },
      make("button", { type: "button", class: "link name", onclick: () => onOpen(graph.id) }, title), begin),
    make("span", { class: "words" }, wordsOf(graph)), sure, problem);
}

async function remove(graph, problem) {
  const answer = await guard(problem, () => ask(pathOf(graph.id), { method: "DELETE", told: true }));
  if (answer === undefined) return;
  say(byId("news"), `${titleOf(graph)} deleted`);
  byId("library-search").focus();
  onDeleted(graph.id);
  refreshLibrary();
}

function matches(graph, words) {
  return graph.id.startsWith(words) || graph.names.some((name) => name.toLowerCase().includes(words.toLowerCase()));
}

function show() {
  const words = byId("library-search").value.trim();
  const form = byId("library-form");
  const focused = form.contains(document.activeElement);
  form.hidden = graphs.length === 0 && words === "";
  // The last graph was deleted.
  if (form.hidden && focused) byId("file").focus();
  const found = words === "" ? graphs : graphs.filter((graph) => matches(graph, words));
  // A prompt to delete stays until it is answered.
  if (byId("library").querySelector(".yes:focus") === null) byId("library").replaceChildren(...found.slice(0, SHOWN).map(row));
  const more = found.length - SHOWN;
  const parts = [];
  if (found.length === 0) parts.push(words === "" ? "No graphs yet." : "No graph has a name like this.");
  if (more > 0) parts.push(`There are ${count(more)} more graphs; search for them by name.`);
  if (cut) parts.push(`Only the newest ${count(graphs.length)} graphs are searched. To open an older graph, type its full name and press Enter.`);
  say(byId("library-words"), parts.join(" "));
}

async function load() {
  const all = [];
  let next = null;
  do {
    const page = await ask(`/v1/graphs?limit=1000${next === null ? "" : `&cursor=${encodeURIComponent(next)}`}`);
    all.push(...page.graphs);
    next = page.next;
  } while (next !== null && all.length < LOADED);
  return { all, more: next !== null };
}

// A request during a load causes one more load afterwards.
export async function refreshLibrary() {
  if (isLocked() || isGone()) return;
  stale = true;
  if (loading !== null) return;
  while (stale) {
    stale = false;
    loading = guard(byId("library-problem"), load);
    const answer = await loading;
    loading = null;
    if (answer === undefined) return;
    if (stale) continue;
    [graphs, cut] = [answer.all, answer.more];
    show();
  }
}

// Clears the list after a change of the key.
export function forgetLibrary() {
  graphs = [];
  cut = false;
  stale = true;
  show();
}

export function startLibrary(open, deleted) {
  onOpen = open;
  onDeleted = deleted;
  byId("library-search").addEventListener("input", show);
  byId("library-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const words = byId("library-search").value.trim();
    if (words === "") return;
    const exact = graphs.find((graph) => graph.names.includes(words));
    const first = exact ?? graphs.find((graph) => matches(graph, words));
    onOpen(first?.id ?? words);
  });
  bus.addEventListener("changed", refreshLibrary);
}
