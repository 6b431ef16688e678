// The matrix, in every form that the service writes.

import { byId, make, bytes } from "./dom.js";
import { ask, fetchFrom, pathOf, hasKey, tell, curl } from "./service.js";
import { guard } from "./problem.js";

const widths = { i4: 4, u2: 2, f4: 4, f8: 8 };
const notes = {
  npy: "NumPy", raw: "bare elements", nthu: "int32 binary", json: "JSON", csv: "CSV", ndjson: "JSON lines", mtx: "Matrix Market",
};
const exact = new Set(["npy", "raw", "nthu"]);
let outputs = null;

// A link cannot carry the key: what it would fetch is fetched here, and saved from memory.
async function save(path, file) {
  await guard(byId("downloads-problem"), async () => {
    const response = await fetchFrom(path);
    const link = make("a", { href: URL.createObjectURL(await response.blob()), download: file });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });
}

function entry(graph, name, about, kind, output) {
  const path = pathOf(graph, `/matrix?format=${output.name}`);
  const file = `${name}.${output.file_endings[0]}`;
  const size = exact.has(output.name) ? `, ${bytes(about.n * about.n * widths[output.name === "nthu" ? "i4" : kind])}` : "";
  const take = (event) => {
    tell("told", curl(path, { output: file }));
    if (!hasKey()) return;
    event.preventDefault();
    save(path, file);
  };
  return make("li", {}, make("a", { href: path, download: file, onclick: take }, output.name),
    make("span", { class: "soft" }, ` ${notes[output.name] ?? ""}${size}`));
}

export async function openDownloads(graph, name, about, kind, limits) {
  const list = byId("downloads");
  list.replaceChildren();
  outputs ??= await guard(byId("downloads-problem"), async () => (await ask("/v1/formats")).outputs);
  if (outputs === undefined) {
    outputs = null;
    return;
  }
  const fits = (output) => (output.name !== "nthu" || kind === "i4" || kind === "u2")
    && (output.name !== "json" || about.n * about.n <= (limits?.json_cell_limit ?? Infinity));
  const order = Object.keys(notes);
  const sorted = outputs.filter(fits).sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  list.replaceChildren(...sorted.map((output) => entry(graph, name, about, kind, output)));
}
