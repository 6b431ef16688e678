// Shows the problem documents of the service: what is wrong, where, and what would help.

import { make, distance } from "./dom.js";
import { tell, isGone } from "./service.js";

// The text of the button that sends a file again with this parameter.
function buttonWords(name, value) {
  if (name === "directed") return "Make edges undirected";
  return value === "none" ? "Use weight 1 for every edge" : `Use column ${value}`;
}

// Buttons that send the file again with a parameter that a warning or a problem names. send(parameters)
// does that; null where the page does not have the file.
export function remedies({ code, columns = [], hint = "" }, send) {
  if (send === null) return null;
  const found = code === "DirectedAssumed" ? [["directed", "false"]] : [];
  const named = [...hint.matchAll(/\bweight=([\w.-]*\w)/g)].map((match) => match[1]);
  for (const name of new Set([...columns, ...named].slice(0, 8))) found.push(["weight", name]);
  if (found.length === 0) return null;
  return make("p", { class: "remedies" }, found.map(([name, value]) =>
    make("button", { type: "button", onclick: () => send({ [name]: value }) }, buttonWords(name, value))));
}

// Returns the text around a column of a line of the file.
async function excerpt(file, line, column) {
  if (file === undefined || file.size > 32 << 20 || /\.(gz|zst|npy|nthu)$/.test(file.name)) return null;
  const text = (await file.text()).split("\n", line)[line - 1];
  if (text === undefined) return null;
  const from = Math.max(0, (column ?? 1) - 40);
  const shown = text.slice(from, from + 80);
  if (column === undefined) return shown;
  return `${shown}\n${" ".repeat(Math.max(0, column - 1 - from))}^`;
}

function places(problem) {
  const words = [];
  if (problem.line !== undefined) words.push(`line ${problem.line}`);
  if (problem.column !== undefined) words.push(`column ${problem.column}`);
  if (problem.limit !== undefined) words.push(`limit ${distance(problem.limit)}`);
  if (problem.actual !== undefined) words.push(`actual ${distance(problem.actual)}`);
  return words.join(", ");
}

// file: the file that was sent, if known; send: as for remedies.
export function describe(problem, file, send = null) {
  const box = make("div", { class: "problem", role: "alert" },
    make("strong", {}, problem.title ?? "Something went wrong"),
    problem.detail ? make("p", {}, problem.detail) : null,
    places(problem) ? make("p", { class: "where" }, places(problem)) : null);
  if (problem.line !== undefined) {
    excerpt(file, problem.line, problem.column).then((text) => {
      if (text !== null) box.insertBefore(make("pre", { tabindex: "0" }, text), box.querySelector(".hint, .code"));
    });
  }
  // The hint of a 401 tells programs which header to send; a reader gets a button instead.
  if (problem.code === "Unauthorized") box.append(make("button", { type: "button", onclick: () => tell("asked") }, "Enter a key"));
  else if (problem.hint) box.append(make("p", { class: "hint" }, problem.hint));
  box.append(remedies(problem, send) ?? "");
  const ids = [problem.code, problem.request_id ? `request ${problem.request_id}` : null];
  box.append(make("p", { class: "code" }, ids.filter(Boolean).join(" · ")));
  return box;
}

// Runs a task and shows its problem in the given box, which is cleared first.
export async function guard(box, task, file, send) {
  box.replaceChildren();
  try {
    return await task();
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    // A banner reports this problem already.
    if (error.document?.code === "NoAnswer" && isGone()) return undefined;
    if (error.document === undefined) console.error(error);
    box.replaceChildren(describe(error.document ?? { title: "The page failed", detail: String(error) }, file, send));
    return undefined;
  }
}
