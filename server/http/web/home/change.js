// Changes the weight of an edge or removes the edge: the service stores a changed graph, to which the name moves.

import { byId, make, say } from "./dom.js";
import { ask, pathOf } from "./service.js";
import { guard } from "./problem.js";

let graph = null; // document of the graph shown
let edge = null;
let onJob = () => {};

// reverse: the weight of the reverse edge in a directed graph, if it exists and is known.
export function chooseEdge(source, target, weight, reverse) {
  edge = { source, target };
  say(byId("edge-words"), `Edge ${source} ${graph.directed ? "→" : "–"} ${target}`);
  byId("edge-weight").value = weight;
  byId("edge-both").checked = false;
  byId("edge-both-box").hidden = reverse === undefined;
  byId("edge-problem").replaceChildren();
  byId("edge-form").hidden = false;
  byId("edge-weight").focus({ preventScroll: true });
  byId("edge-weight").select();
}

async function change(weight) {
  const { source, target } = edge;
  const changes = [[source, target, weight]];
  if (byId("edge-both").checked) changes.push([target, source, weight]);
  const [name] = graph.names;
  // Address the graph by its name, so that the name moves, unless it belongs to another graph by now.
  const headers = name === undefined ? {} : { "If-Match": `"${graph.id}"` };
  byId("edge-form").setAttribute("aria-busy", "true");
  const job = await guard(byId("edge-problem"), () =>
    ask(`${pathOf(name ?? graph.id, "/edges")}?wait=10`, { method: "PATCH", json: changes, headers, told: true }));
  byId("edge-form").setAttribute("aria-busy", "false");
  if (job !== undefined) onJob(job);
}

export function startChange(jobs) {
  onJob = jobs;
  byId("edge-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = byId("edge-weight").value.trim();
    if (text !== "" && Number.isFinite(Number(text))) change(Number(text));
    else byId("edge-problem").replaceChildren(make("p", { class: "problem", role: "alert" }, "The weight must be a number."));
  });
  byId("edge-remove").addEventListener("click", () => change(null));
  byId("edge-close").addEventListener("click", () => { byId("edge-form").hidden = true; });
}

export function openChange(about) {
  graph = about;
  byId("edge-form").hidden = true;
  byId("edge-problem").replaceChildren();
}
