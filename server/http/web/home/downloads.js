// Downloads of the matrix in every format that the service writes.

import { byId, make, bytes, saveAs } from "./dom.js";
import { ask, addressOf, fetchFrom, pathOf, hasKey, tell, curl } from "./service.js";
import { guard } from "./problem.js";

const widths = { i4: 4, u2: 2, f4: 4, f8: 8 };
const notes = {
  npy: "NumPy", raw: "bare elements", nthu: "int32 binary", json: "JSON", csv: "CSV", ndjson: "JSON lines", mtx: "Matrix Market",
};
const exact = new Set(["npy", "raw", "nthu"]);
// Bytes of a distance as text, with its separator; a line of Matrix Market or JSON lines names both ends.
const textWidths = { json: 6, csv: 6, ndjson: 8, mtx: 17 };
// Beyond this size the page asks before it downloads.
const LARGE_BYTES = 1e9;
let outputs = null;

// A link cannot send the key, so the script fetches the file and saves it from memory.
async function save(path, file) {
  await guard(byId("downloads-problem"), async () => saveAs(await (await fetchFrom(path)).blob(), file));
}

function sizeOf(output, { n }, kind) {
  return n * n * (exact.has(output) ? widths[output === "nthu" ? "i4" : kind] : textWidths[output] ?? 8);
}

function entry(graph, name, about, kind, output) {
  const path = pathOf(graph, `/matrix?format=${output.name}`);
  const file = `${name}.${output.file_endings[0]}`;
  const size = sizeOf(output.name, about, kind);
  const words = `${exact.has(output.name) ? "" : "about "}${bytes(size)}`;
  let sure = size < LARGE_BYTES;
  const question = make("span", { class: "question", role: "status" });
  const link = make("a", { href: addressOf(path), download: file, onclick: take }, output.name);
  function take(event) {
    if (!sure) {
      event.preventDefault();
      question.replaceChildren(` This download is ${words}. `, make("button", {
        type: "button", onclick: () => { sure = true; question.replaceChildren(); link.click(); },
      }, "Download anyway"));
      return;
    }
    tell("told", curl(path, { output: file }));
    if (!hasKey()) return;
    event.preventDefault();
    save(path, file);
  }
  return make("li", {}, link, make("span", { class: "soft" }, ` ${notes[output.name] ?? ""}, ${words}`), question);
}

export async function openDownloads(graph, name, about, kind, { limits }) {
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
